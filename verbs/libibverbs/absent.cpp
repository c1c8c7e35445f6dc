// What there is not: UD, multicast, memory windows, import, and what the drivers of adapters
// call. It fails with EOPNOTSUPP, as verbs of a device without the operation do.
#include <infiniband/verbs.h>

#include "verbs/libibverbs/call.hpp"

namespace {

template <class Object>
Object* none() {
  errno = EOPNOTSUPP;
  return nullptr;
}

}  // namespace

VERBS_CALL ibv_ah* ibv_create_ah(ibv_pd*, ibv_ah_attr*) { return none<ibv_ah>(); }
VERBS_CALL ibv_ah* ibv_create_ah_from_wc(ibv_pd*, ibv_wc*, ibv_grh*, std::uint8_t) { return none<ibv_ah>(); }
VERBS_CALL int ibv_init_ah_from_wc(ibv_context*, std::uint8_t, ibv_wc*, ibv_grh*, ibv_ah_attr*) {
  return errno = EOPNOTSUPP, -1;
}
VERBS_CALL int ibv_destroy_ah(ibv_ah*) { return EOPNOTSUPP; }
VERBS_CALL int ibv_attach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) { return EOPNOTSUPP; }
VERBS_CALL int ibv_detach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) { return EOPNOTSUPP; }
VERBS_CALL ibv_context* ibv_import_device(int) { return none<ibv_context>(); }
VERBS_CALL ibv_pd* ibv_import_pd(ibv_context*, std::uint32_t) { return none<ibv_pd>(); }
VERBS_CALL void ibv_unimport_pd(ibv_pd*) {}
VERBS_CALL ibv_mr* ibv_import_mr(ibv_pd*, std::uint32_t) { return none<ibv_mr>(); }
VERBS_CALL void ibv_unimport_mr(ibv_mr*) {}
VERBS_CALL ibv_dm* ibv_import_dm(ibv_context*, std::uint32_t) { return none<ibv_dm>(); }
VERBS_CALL void ibv_unimport_dm(ibv_dm*) {}
VERBS_CALL ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int) {
  return none<ibv_mr>();
}
/// The region is as it was.
VERBS_CALL int ibv_rereg_mr(ibv_mr*, int, ibv_pd*, void*, std::size_t, int) {
  return errno = EOPNOTSUPP, IBV_REREG_MR_ERR_INPUT;
}
VERBS_CALL int ibv_query_ece(ibv_qp*, ibv_ece*) { return EOPNOTSUPP; }
VERBS_CALL int ibv_set_ece(ibv_qp*, ibv_ece*) { return EOPNOTSUPP; }
/// TCP places octets as they come.
VERBS_CALL int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, std::uint32_t) { return 0; }
VERBS_CALL int ibv_resolve_eth_l2_from_gid(ibv_context*, ibv_ah_attr*, std::uint8_t*, std::uint16_t*) {
  return errno = EOPNOTSUPP, -1;
}

// --- not declared for programs: conversions of what the kernel tells, and what the drivers of adapters call. Some of
// these drivers are linked with programs; they are told of nothing and do nothing.
#define DRIVER_CALL(name) \
  VERBS_CALL int name() { return EOPNOTSUPP; }
#define SILENT_CALL(name) \
  VERBS_CALL void name() {}
#define MAKING_CALL(name) \
  VERBS_CALL void* name() { return none<void>(); }

extern "C" __attribute__((visibility("default"))) bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy = false;
SILENT_CALL(__verbs_log)
SILENT_CALL(ibv_copy_ah_attr_from_kern)
SILENT_CALL(ibv_copy_path_rec_from_kern)
SILENT_CALL(ibv_copy_path_rec_to_kern)
SILENT_CALL(ibv_copy_qp_attr_from_kern)
SILENT_CALL(verbs_init_cq)
SILENT_CALL(verbs_register_driver_34)
SILENT_CALL(verbs_set_ops)
SILENT_CALL(verbs_uninit_context)
MAKING_CALL(_verbs_init_and_alloc_context)
MAKING_CALL(verbs_open_device)
DRIVER_CALL(__ioctl_final_num_attrs)
DRIVER_CALL(execute_ioctl)
DRIVER_CALL(ibv_cmd_advise_mr)
DRIVER_CALL(ibv_cmd_alloc_dm)
DRIVER_CALL(ibv_cmd_alloc_mw)
DRIVER_CALL(ibv_cmd_alloc_pd)
DRIVER_CALL(ibv_cmd_attach_mcast)
DRIVER_CALL(ibv_cmd_close_xrcd)
DRIVER_CALL(ibv_cmd_create_ah)
DRIVER_CALL(ibv_cmd_create_counters)
DRIVER_CALL(ibv_cmd_create_cq)
DRIVER_CALL(ibv_cmd_create_cq_ex)
DRIVER_CALL(ibv_cmd_create_flow)
DRIVER_CALL(ibv_cmd_create_flow_action_esp)
DRIVER_CALL(ibv_cmd_create_qp)
DRIVER_CALL(ibv_cmd_create_qp_ex)
DRIVER_CALL(ibv_cmd_create_qp_ex2)
DRIVER_CALL(ibv_cmd_create_rwq_ind_table)
DRIVER_CALL(ibv_cmd_create_srq)
DRIVER_CALL(ibv_cmd_create_srq_ex)
DRIVER_CALL(ibv_cmd_create_wq)
DRIVER_CALL(ibv_cmd_dealloc_mw)
DRIVER_CALL(ibv_cmd_dealloc_pd)
DRIVER_CALL(ibv_cmd_dereg_mr)
DRIVER_CALL(ibv_cmd_destroy_ah)
DRIVER_CALL(ibv_cmd_destroy_counters)
DRIVER_CALL(ibv_cmd_destroy_cq)
DRIVER_CALL(ibv_cmd_destroy_flow)
DRIVER_CALL(ibv_cmd_destroy_flow_action)
DRIVER_CALL(ibv_cmd_destroy_qp)
DRIVER_CALL(ibv_cmd_destroy_rwq_ind_table)
DRIVER_CALL(ibv_cmd_destroy_srq)
DRIVER_CALL(ibv_cmd_destroy_wq)
DRIVER_CALL(ibv_cmd_detach_mcast)
DRIVER_CALL(ibv_cmd_free_dm)
DRIVER_CALL(ibv_cmd_get_context)
DRIVER_CALL(ibv_cmd_modify_cq)
DRIVER_CALL(ibv_cmd_modify_flow_action_esp)
DRIVER_CALL(ibv_cmd_modify_qp)
DRIVER_CALL(ibv_cmd_modify_qp_ex)
DRIVER_CALL(ibv_cmd_modify_srq)
DRIVER_CALL(ibv_cmd_modify_wq)
DRIVER_CALL(ibv_cmd_open_qp)
DRIVER_CALL(ibv_cmd_open_xrcd)
DRIVER_CALL(ibv_cmd_poll_cq)
DRIVER_CALL(ibv_cmd_post_recv)
DRIVER_CALL(ibv_cmd_post_send)
DRIVER_CALL(ibv_cmd_post_srq_recv)
DRIVER_CALL(ibv_cmd_query_context)
DRIVER_CALL(ibv_cmd_query_device_any)
DRIVER_CALL(ibv_cmd_query_mr)
DRIVER_CALL(ibv_cmd_query_port)
DRIVER_CALL(ibv_cmd_query_qp)
DRIVER_CALL(ibv_cmd_query_srq)
DRIVER_CALL(ibv_cmd_read_counters)
DRIVER_CALL(ibv_cmd_reg_dm_mr)
DRIVER_CALL(ibv_cmd_reg_dmabuf_mr)
DRIVER_CALL(ibv_cmd_reg_mr)
DRIVER_CALL(ibv_cmd_req_notify_cq)
DRIVER_CALL(ibv_cmd_rereg_mr)
DRIVER_CALL(ibv_cmd_resize_cq)
DRIVER_CALL(ibv_read_ibdev_sysfs_file)
