#!/bin/sh
# /init of the guest: Debian's kernel with its own FCoE initiator, obeys lines on the serial console. What it says begins
# with GUEST.
#   start fabric|vn2vn MTU   the FCoE instance on eth0
#   online                   waits until the port is, and tells the seconds since it was enabled, or since eth0 came back
#   flap                     eth0 goes for a second, and comes back
#   show                     the state of port, remote ports and FCFs
#   destroy                  the instance ends as an administrator ends it: it logs out
#   off
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev 2>/dev/null
stty -echo 2>/dev/null
ctlr=/sys/bus/fcoe/devices

while read -r module; do
  insmod "/lib/modules/$module.ko" || echo "GUEST insmod $module failed"
done </lib/modules/order
for i in $(seq 50); do
  [ -e /sys/class/net/eth0 ] && break
  sleep 0.1
done

start() {
  ip link set eth0 mtu "$2" && ip link set eth0 up || echo "GUEST eth0 failed"
  for i in $(seq 100); do
    [ "$(cat /sys/class/net/eth0/operstate)" = up ] && break
    sleep 0.1
  done
  echo eth0 >/sys/bus/fcoe/ctlr_create
  c=$(ls -d $ctlr/ctlr_* | tail -n 1)
  begun=$(uptime_hundredths)
  echo "$1" >"$c/mode" && echo 1 >"$c/enabled" && echo "GUEST started $(cat "$c/mode") mtu $(cat /sys/class/net/eth0/mtu)"
}

uptime_hundredths() {
  read -r up _ </proc/uptime
  echo "${up%.*}${up#*.}"
}

online() {
  for i in $(seq 1000); do
    read -r state <"$(echo /sys/class/fc_host/host*)/port_state"
    [ "$state" = Online ] && break
    usleep 20000
  done
  echo "GUEST $state hundredths=$(($(uptime_hundredths) - begun))"
}

flap() {
  ip link set eth0 down
  sleep 1
  begun=$(uptime_hundredths)
  ip link set eth0 up
  echo "GUEST flapped"
}

show() {
  for h in /sys/class/fc_host/host*; do
    [ -e "$h" ] && echo "GUEST host state=$(cat "$h/port_state") id=$(cat "$h/port_id") wwpn=$(cat "$h/port_name") fabric=$(cat "$h/fabric_name") mfs=$(cat "$h/maxframe_size")"
  done
  for r in /sys/class/fc_remote_ports/rport-*; do
    [ -e "$r" ] && echo "GUEST rport id=$(cat "$r/port_id") state=$(cat "$r/port_state") wwpn=$(cat "$r/port_name") roles=$(cat "$r/roles")"
  done
  for f in $ctlr/fcf_*; do
    [ -e "$f" ] && echo "GUEST fcf mac=$(cat "$f/mac") priority=$(cat "$f/priority") selected=$(cat "$f/selected")"
  done
  echo "GUEST shown"
}

echo "GUEST ready, kernel $(uname -r)"
while read -r word first second; do
  case $word in
    start) start "$first" "$second" ;;
    online) online ;;
    flap) flap ;;
    show) show ;;
    destroy) echo eth0 >/sys/bus/fcoe/ctlr_destroy && echo "GUEST destroyed" ;;
    off) poweroff -f ;;
  esac
done
poweroff -f
