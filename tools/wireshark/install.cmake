# cmake -DPLUGIN=fcvi.lua -DPROFILE=FOLDER -DNAME=FC-VI -P install.cmake: puts a plugin and its profile where Wireshark and tshark of this
# user look for them, which tshark itself says.
function(folder_of name otherwise out)
  set(${out} "${otherwise}" PARENT_SCOPE)
  find_program(tshark tshark)
  if(tshark)
    execute_process(COMMAND "${tshark}" -G folders OUTPUT_VARIABLE folders ERROR_QUIET)
    if(folders MATCHES "${name}:[ \t]*([^\n]+)")
      set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

folder_of("Personal Lua Plugins" "$ENV{HOME}/.local/lib/wireshark/plugins" plugins)
folder_of("Personal configuration" "$ENV{HOME}/.config/wireshark" configuration)
get_filename_component(file "${PLUGIN}" NAME)
file(COPY "${PLUGIN}" DESTINATION "${plugins}")
file(COPY "${PROFILE}/" DESTINATION "${configuration}/profiles/${NAME}")
message(STATUS "${plugins}/${file}, profile ${NAME} in ${configuration}/profiles")
