"""Kernels as parts of other kernels: kept as bitcode of LLVM, never turned into machine code by themselves.

numba optimizes each function and makes machine code of it, with all that it calls, before another one may call it:
what is five calls deep would be compiled five times. A part is only checked, lowered and linked; the kernel that Python
calls is optimized as a whole, once. What numba looks up for each call of an operator is looked up once, too.
"""

from collections import Counter
from typing import Any

from llvmlite.ir import Constant
from numba.core import config, ir
from numba.core.analysis import compute_use_defs
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.lowering import Lower
from numba.core.targetconfig import ConfigStack
from numba.core.types import intp
from numba.core.types.functions import BaseFunction
from numba.np import arrayobj

from common.kernel_cache import KernelCache, KernelCacheImpl

# How far LLVM goes with a part by itself: -O1 takes half of the time of -O3, which the kernel gets.
PART_OPT = 1


class NoEnvironments:
    """A code generator that leaves out numba's environments, which errors need: only machine code has room for them."""

    def __init__(self, codegen: Any) -> None:
        """Stand for a code generator of numba."""
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        """Return what the generator itself has."""
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: a part has no place for it, and kernels raise nothing."""


class PartLibrary(JITCodeLibrary):
    """The code of one part, with that of its own parts, for others to link."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Simplify what the function itself says, so that others link less; the kernel is optimized as a whole."""
        settings: Any = config
        usual, settings.OPT = settings.OPT, PART_OPT
        try:
            super()._optimize_functions(ll_module)
        finally:
            settings.OPT = usual

    @property
    def codegen(self) -> Any:
        """The code generator."""
        return NoEnvironments(self._codegen)

    def _optimize_final_module(self) -> None:
        """Do nothing: a kernel is optimized as a whole."""

    def _finalize_final_module(self) -> None:
        """Let others link the code, without the engine, which would make machine code of it."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: nobody calls a part."""
        return 0

    def serialize_using_object_code(self) -> Any:
        """Return what numba keeps on disk."""
        return self.serialize_using_bitcode()


class PartCompiler(Compiler):
    """numba's compiler, which makes a PartLibrary."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        """Prepare to compile one function, as numba asks for it."""
        super().__init__(typingctx, targetctx, library or PartLibrary(targetctx.codegen(), "part"), *rest)


class PartCacheImpl(KernelCacheImpl):
    """Reading and writing of parts."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return a part from what was kept; numba holds its lock meanwhile, so that no other thread compiles."""
        codegen = target_context.codegen()
        before, codegen._library_class = codegen._library_class, PartLibrary
        try:
            return super().rebuild(target_context, payload)
        finally:
            codegen._library_class = before


class PartCache(KernelCache):
    """The cache of one kernel as a part of others."""

    _impl_class = PartCacheImpl


def is_compiling_kernel() -> bool:
    """Return whether what numba compiles now is a kernel, or a part of one: these do without reference counts."""
    flags = ConfigStack.top_or_none()
    return flags is not None and not flags.nrt


def count_indices_from_the_start() -> None:
    """From now on kernels take an index as it is; below 0 only a number that stands alone counts from the end.

    numba compares each index with 0 and adds the length to what is less: without that playouts are 1.2 times as fast,
    and loops over neighbors take half of the instructions. `array[-1]` is the last one as before; what is computed,
    and what stands beside another index (`array[i, -1]`), may not be below 0: NUMBA_BOUNDSCHECK=1 finds it.
    """
    arrays: Any = arrayobj
    fix_index = arrays.fix_integer_index

    def take_index(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        """Return the index as LLVM's integer of the machine's size, as numba asks for it."""
        if isinstance(index, Constant) or not is_compiling_kernel():
            return fix_index(context, builder, kind, index, size)
        return context.cast(builder, index, kind, intp)

    arrays.fix_integer_index = take_index


def keep_values_in_registers() -> None:
    """From now on a variable that is set once, where a kernel begins, as its arguments are, has no place in memory.

    numba gives one to each variable that several blocks use, and LLVM takes it away again: with tuples of dozens of
    arrays that was more than a third of what simplifying them took.
    """
    lower: Any = Lower
    find_variables = lower._find_singly_assigned_variable

    def find_more(self: Any) -> None:
        """Note the variables that have no place in memory, as numba asks for it."""
        find_variables(self)
        if not is_compiling_kernel() or self.func_ir.func_id.is_generator:
            return
        blocks = self.func_ir.blocks
        first = min(blocks)
        known = compute_use_defs(blocks)
        times = Counter(statement.target.name for block in blocks.values() for statement in block.find_insts(ir.Assign))
        set_once = {name for name in known.defmap[first] if times[name] == 1}
        self._singly_assigned_vars |= set_once - known.usemap[first]

    lower._find_singly_assigned_variable = find_more


def remember_call_types() -> None:
    """From now on look up once for all kernels what an operator, or a function of numba, makes of given types.

    numba tries dozens of forms of `+` for each `+` of a program, a sixth of the time that kernels take. What else it
    compiles, with reference counts, may ask for other code and is looked up as before.
    """
    function: Any = BaseFunction
    look_up, known = function.get_call_type, {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of the call, as numba asks for it."""
        if not is_compiling_kernel():
            return look_up(self, context, args, kws)
        call = self, context, tuple(args), tuple(kws.items())
        if call not in known:
            known[call] = look_up(self, context, args, kws)
        return known[call]

    function.get_call_type = get_call_type
