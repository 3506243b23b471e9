# SPDX-License-Identifier: MIT
"""Handlers that print what follows an instruction, by its name."""

from __future__ import annotations

from cffpy.intel.views.aubinator import bases, buffers, dynamic_state, gen4_state, kernels, tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.views.aubinator.context import Handler

#: These act also where the instruction itself is not printed.
STATE_HANDLERS: dict[str, Handler] = {
    "STATE_BASE_ADDRESS": bases.state_base_address,
    "3DSTATE_BINDING_TABLE_POOL_ALLOC": bases.binding_table_pool,
    "MEDIA_INTERFACE_DESCRIPTOR_LOAD": kernels.interface_descriptor_load,
}

HANDLERS: dict[str, Handler] = {
    "COMPUTE_WALKER": kernels.compute_walker,
    "EXECUTE_INDIRECT_DISPATCH": kernels.compute_walker,
    "MEDIA_CURBE_LOAD": buffers.curbe_load,
    "3DSTATE_VERTEX_BUFFERS": buffers.vertex_buffers,
    "3DSTATE_INDEX_BUFFER": buffers.index_buffer,
    "3DSTATE_VS": kernels.single_kernel,
    "3DSTATE_GS": kernels.single_kernel,
    "3DSTATE_DS": kernels.single_kernel,
    "3DSTATE_HS": kernels.single_kernel,
    "3DSTATE_PS": kernels.fragment_kernels,
    "3DSTATE_WM": kernels.fragment_kernels,
    "3DSTATE_MESH_SHADER": kernels.mesh_or_task_kernel,
    "3DSTATE_TASK_SHADER": kernels.mesh_or_task_kernel,
    "3DSTATE_CONSTANT_VS": buffers.constants,
    "3DSTATE_CONSTANT_GS": buffers.constants,
    "3DSTATE_CONSTANT_PS": buffers.constants,
    "3DSTATE_CONSTANT_HS": buffers.constants,
    "3DSTATE_CONSTANT_DS": buffers.constants,
    "3DSTATE_CONSTANT_ALL": buffers.all_constants,
    "3DSTATE_BINDING_TABLE_POINTERS": tables.gen4_table_pointers,
    "3DSTATE_BINDING_TABLE_POINTERS_VS": tables.table_pointers,
    "3DSTATE_BINDING_TABLE_POINTERS_HS": tables.table_pointers,
    "3DSTATE_BINDING_TABLE_POINTERS_DS": tables.table_pointers,
    "3DSTATE_BINDING_TABLE_POINTERS_GS": tables.table_pointers,
    "3DSTATE_BINDING_TABLE_POINTERS_PS": tables.table_pointers,
    "3DSTATE_SAMPLER_STATE_POINTERS_VS": tables.sampler_pointers,
    "3DSTATE_SAMPLER_STATE_POINTERS_HS": tables.sampler_pointers,
    "3DSTATE_SAMPLER_STATE_POINTERS_DS": tables.sampler_pointers,
    "3DSTATE_SAMPLER_STATE_POINTERS_GS": tables.sampler_pointers,
    "3DSTATE_SAMPLER_STATE_POINTERS_PS": tables.sampler_pointers,
    "3DSTATE_SAMPLER_STATE_POINTERS": tables.gen6_sampler_pointers,
    "3DSTATE_VIEWPORT_STATE_POINTERS": dynamic_state.gen6_viewports,
    "3DSTATE_VIEWPORT_STATE_POINTERS_CC": dynamic_state.cc_viewports,
    "3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP": dynamic_state.sf_clip_viewports,
    "3DSTATE_BLEND_STATE_POINTERS": dynamic_state.blend_state,
    "3DSTATE_CC_STATE_POINTERS": dynamic_state.colour_calc_state,
    "3DSTATE_DEPTH_STENCIL_STATE_POINTERS": dynamic_state.depth_stencil_state,
    "3DSTATE_SCISSOR_STATE_POINTERS": dynamic_state.scissors,
    "3DSTATE_SLICE_TABLE_STATE_POINTERS": dynamic_state.slice_table,
    "MI_LOAD_REGISTER_IMM": bases.load_registers,
    "3DSTATE_PIPELINED_POINTERS": gen4_state.pipelined_pointers,
    "3DSTATE_CPS_POINTERS": dynamic_state.cps_state,
    "CONSTANT_BUFFER": buffers.gen4_constants,
}
