import subprocess, sys, time, os
R=os.getcwd()+'/'  # the worktree, built in build/ (release)
os.environ['CCACHE_BASEDIR']=R; 
end=time.time()+float(sys.argv[1])*60
MR='fcvi/message_receiver.cpp';ME='fcvi/message_receiver_epochs.cpp';MS='fcvi/message_sender.cpp';RR='fcvi/read_responder.cpp';CO='fcvi/core.cpp';C2='fc2_fabric/class_2.cpp';EX='fc2_fabric/exchange.cpp';RP='fc2_fabric/remote_port.cpp';CN='fcvi/connection.cpp';NP='fc2_fabric/n_port.cpp'
M=[
(C2,'rej header seq_id',' || header.seq_id != sent_->seq_id',''),
(C2,'ack after abts',' || !machine_.is<ex::OpenInitiative>())',')'),
(RP,'credit clamp','std::min<std::uint32_t>(credit_ + count, peer_parameters_.class_2.end_to_end_credit)','credit_ + count'),
(C2,'ack progress','  sent.progress_at = port_.scheduler().now();\n  if (header.r_ctl','  if (header.r_ctl'),
(C2,'forget seqid','owner->give_back_seq_id(sent_->seq_id)','static_cast<void>(owner)'),
(C2,'forget credit','  if (sent_ == nullptr) return;\n  return_credit(sent_->credit_taken);','  if (sent_ == nullptr) return;'),
(EX,'abts credit','  if (sent_ != nullptr) return_credit(sent_->credit_taken);\n',''),
(MS,'resp overtakes ack','  if (message->exchange->awaits_acknowledgement()) message->exchange->all_acknowledged();  // it overtook an ACK\n',''),
(C2,'kept not erased','  std::erase_if(sent.kept,','  if (false) std::erase_if(sent.kept,'),
(C2,'P_RJT login','(remote != nullptr && remote->logged_in())','true'),
(MS,'read rmt_va','header.rmt_va == work.remote_address && header.rmt_va_handle == work.remote_handle &&\n','true &&\n'),
(MS,'read tot_len','header.tot_len_or_connection_id == work.length_bytes && frame','frame'),
(MS,'read seq_cnt',' && frame.header.seq_cnt.value == message.read_seq_cnt &&',' &&'),
(MS,'read parameter','frame.header.parameter == static_cast<std::uint32_t>(message.bytes_moved) &&\n         message','message'),
(MS,'read too long','message.bytes_moved + payload_bytes <= work.length_bytes && whole == ends','whole == ends'),
(MS,'read ends','<= work.length_bytes && whole == ends','<= work.length_bytes'),
(MS,'matches opcode','if (!matches || (sending_','if ((sending_'),
(MS,'resp while sending',' || (sending_ && message == &open_.back())) return',') return'),
(MS,'half not updated','  if (next_half) half_entered_at_ = connection_.core().scheduler().now();\n',''),
(MS,'peer_failed_it read','  if (!status.ok()) {\n    connection_.peer_failed_it();','  if (!status.ok()) {'),
(MS,'in_turn reception','if (needs_response() || is_read(earlier) == is_read(message)) return false;','if (is_read(earlier) == is_read(message)) return false;'),
(MS,'in_turn reads','if (needs_response() || is_read(earlier) == is_read(message)) return false;','return false;'),
(MS,'is_open read','  if (!connection_.vi()->is_open(message.work)) return;  // flushed; the end of the connection is on its way\n',''),
(MS,'Queued retry','if (message.machine.is<mo::Queued>()) return wake();','if (false) return wake();'),
(MS,'scatter lost','if (!payload.empty() && !message.work.data.scatter(payload)) return process(message, mo::LocalProtectionError{});','if (!payload.empty()) static_cast<void>(message.work.data.scatter(payload));'),
(MR,'write target changes','(header.rmt_va == first.rmt_va && header.rmt_va_handle == first.rmt_va_handle)','true'),
(MR,'too many bytes','received <= length &&','true &&'),
(MR,'max transfer',' && length <= connection_.vi()->attributes().max_transfer_size_bytes',''),
(MR,'read at unreliable','  if (message_.kind == Kind::Read && !connection_.is_reliable()) return discard_frame();  // 6.6.1: not allowed\n',''),
(MR,'resp3 guard','  if (needs_response() && connection_.awaits_resp3()) return process(mr::FrameLost{mr::Loss::SequenceError});\n',''),
(MR,'errored full','  latest->last = last;\n','  static_cast<void>(last);\n'),
(MR,'last_completed','  last_completed_ = message_.header.msg_id;\n',''),
(MR,'read flood','if (!connection_.read_responder().add(*frame_, message_.header)) failure_ = ReceiveError::Transport;','static_cast<void>(connection_.read_responder().add(*frame_, message_.header));'),
(MR,'read access','length, vi::Access::RemoteRead)','length, vi::Access::RemoteWrite)'),
(MR,'keep refusing','      connection_.core().port().acknowledger().keep_sequence(frame);  // its response tells why\n',''),
(MR,'settle ack first','  if (failure_) connection_.core().port().acknowledger().finish();  // the ACK says it before the DISCONNECT_RQST does\n',''),
(MR,'place lost','  if (machine_.is<mr::Receiving>() && !place(payload)) return process(mr::MemoryLost{needs_response()});','  if (machine_.is<mr::Receiving>()) static_cast<void>(place(payload));'),
(MR,'enable reset','  expected_ = connection_.core().config().first_msg_id;  // an acceptance','  if (expected_.value == 0) expected_ = connection_.core().config().first_msg_id;  // an acceptance'),
(ME,'keep past','if (!is_errored(header.msg_id)) port','if (false) port'),
(ME,'give up receiving','if (machine_.is<mr::Receiving>() || next == expected_)','if (next == expected_)'),
(ME,'give up next==expected','if (machine_.is<mr::Receiving>() || next == expected_)','if (machine_.is<mr::Receiving>())'),
(RR,'abort waiting','  if (found != responses_.begin() || exchange_ == nullptr) responses_.erase(found);',''),
(RR,'lost no flag','{.resp_err = true, .prot_err = true}','{}'),
(RR,'lost ignored','const bool lost = from == nullptr;','const bool lost = false; if (from == nullptr) size = 0;'),
(CO,'s_id check',' || connection->peer_port() != frame.header.s_id)',')'),
(CO,'exchange context','  if (answer != (iu.category == Category::message_response)) return discard(fc2::Discard::BadHeader);\n',''),
(CO,'r_ctl','  if (iu.r_ctl != frame.header.r_ctl) return discard(fc2::Discard::BadHeader);\n',''),
(CO,'stray deny','  if (!known) port_.deny(source);\n}\n\nbool','  static_cast<void>(known);\n}\n\nbool'),
(CO,'herr gone abort','    port_.acknowledger().abort_sequence(frame);  // as while it had Herr (B.2.4 rule 1 a)\n',''),
(CN,'window 4095','std::min<std::uint32_t>(depth, 4095) + 1','std::min<std::uint32_t>(depth, 4096) + 1'),
(EX,'open sequence unfinished','  if (sequence_.is<sq::Receiving>()) return false;  // the end of the sequence before is missing\n',''),
(EX,'duplicate','return begun && frame','return false && begun && frame'),
(NP,'type mismatch','  if (exchange != nullptr && !opens && exchange->type_ != frame.header.type) return counters_.discard(Discard::BadHeader);\n',''),
(NP,'abts broadcast','  if (header.d_id == wire::well_known::broadcast) return counters_.discard(Discard::BadHeader);\n',''),
(C2,'ack_0 only last','  if (frame_->last_of_sequence) return send(wire::RCtl::ack_0, 0);\n  frame_ = nullptr;','  return send(wire::RCtl::ack_0, 0);'),
(C2,'no credit returned by ack','  if (sent.credit_taken != 0) return_credit(1);\n',''),
]
for f,name,old,new in M:
    if time.time()>end: print('TIME',flush=True); break
    p=R+f; s=open(p).read()
    if s.count(old)!=1: print('??',s.count(old),f,name,flush=True); continue
    open(p,'w').write(s.replace(old,new))
    try:
        b=subprocess.run('nice ninja -C build -j2 fcvi_test'+(' fc2_fabric_test' if f.startswith('fc2') else ''),shell=True,cwd=R,capture_output=True,text=True)
        if b.returncode: print('BUILD',f,name,[l for l in b.stdout.splitlines() if 'error' in l][:2],flush=True); continue
        res=[]
        for t in ['fcvi_test']+(['fc2_fabric_test'] if f.startswith('fc2') else []):
            try:
                o=subprocess.run(['build/bin/'+t,'--gtest_brief=1'],cwd=R,capture_output=True,text=True,timeout=120)
                fails=[l.split()[3] for l in o.stdout.splitlines() if l.startswith('[  FAILED  ]') and '.' in l and len(l.split())>3]
                res.append((t,o.returncode,sorted(set(fails))[:4]))
            except subprocess.TimeoutExpired: res.append((t,'hang',[]))
        alive=all(r[1]==0 for r in res)
        print('SURVIVES' if alive else 'killed',f,'|',name,'' if alive else res,flush=True)
    finally:
        open(p,'w').write(s)
print('END')
