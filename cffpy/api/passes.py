# SPDX-License-Identifier: MIT
"""Pass, Tile, Action, Draw: what the commands of a capture execute."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary, ref

from cffpy.api.action_facts import ActionFacts
from cffpy.api.collections import ByStage
from cffpy.api.selection import Selection, choose_draws, choose_passes, choose_tiles
from cffpy.api.vertices import VertexAttribute, attributes_of
from cffpy.errors import CaptureError, UsageError
from cffpy.frame.draw_names import name_of
from cffpy.frame.execution import Executed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.analysis.visibility_model import PassVisibility
    from cffpy.api.bindings import Bound, Constants, DataBuffer, Descriptor
    from cffpy.api.memory import Memory
    from cffpy.api.pictures import CapturedImage, NamedImage, Pictures
    from cffpy.api.shaders import Shader
    from cffpy.api.source import Source
    from cffpy.api.state import RegisterState
    from cffpy.frame import action as actions
    from cffpy.frame import passes as model
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.geometry import Rectangle, Size
    from cffpy.frame.passes import Lrz, Operation, Pipe, Tile
    from cffpy.frame.pipe_waits import PipeWait
    from cffpy.frame.place import PacketLocation
    from cffpy.image.picture import Picture


class Action(ActionFacts):
    """One execution of a draw, dispatch, blit, clear, load or store.

    The program's draw is executed in the binning run and in every tile: one Action each.
    """

    __slots__ = ("__weakref__", "_frame", "model")

    def __init__(self, frame: Frame, found: actions.Action) -> None:
        self._frame = frame
        #: The object that the commands use; its shape may change.
        self.model = found

    @property
    def kind(self) -> str:
        """One of "draw", "dispatch", "blit" (CP_BLIT), "resolve" (a BLIT event), "lrz clear".

        In ``Capture.transfers`` also "copy": a packet that copies memory.
        """
        return self.model.kind

    @property
    def role(self) -> str:
        """What a driver does with it: "clear", "load", "store", "copy", ...; "" for a draw."""
        return self.model.role

    @property
    def packet(self) -> str:
        """The packet's name."""
        return self.model.packet

    @property
    def primitive(self) -> str | None:
        """Of a draw, the primitive type; of a blit, its kind."""
        return self.model.primitive

    @property
    def name(self) -> str | None:
        """The name that commands take: "p0:8" for the program's draw 8 of pass 0, else "57"."""
        name = name_of(self.model)
        return None if name is None else str(name)

    @property
    def dump_number(self) -> int | None:
        """Its number in ``cffpy dump``; None for what the dump does not number."""
        return self.model.dump_draw

    @property
    def order(self) -> int:
        """Its position among all actions of the capture."""
        return self.model.order

    # -- where it is ----------------------------------------------------------------------------

    @property
    def place(self) -> PacketLocation:
        """Where its packet is: ``gpuaddr``, ``file_offset`` (bytes), ``stream``."""
        return self.model.place

    @property
    def submit(self) -> int:
        """Number of its submit: the index in ``Capture.submits``."""
        return self.model.place.submit.submit

    @property
    def pass_(self) -> Pass | None:
        """Its pass; None outside of all."""
        index = self.model.pass_index
        return None if index is None else self._frame.pass_(index)

    @property
    def tile(self) -> Tile | None:
        """The tile that it is executed in; None in a binning run and in sysmem mode."""
        found, number = self.pass_, self.model.tile_number
        return None if found is None or number is None else found.model.tiles[number]

    @property
    def is_binning(self) -> bool:
        """Whether it is executed in a binning run."""
        return self.model.binning

    @property
    def pipe(self) -> str | None:
        """The pipe of the command processor that executes it (a7xx and later).

        One of "BR", "BV", "both" and "unknown", where the GPU decides; None where the GPU has one
        pipe, or the stream does not say it. ``state`` is that of its registers.
        """
        return self.model.pipe

    @property
    def visible(self) -> bool | None:
        """Of a draw, whether the visibility stream draws it in its tile; None: unknown."""
        found, visible = self.pass_, self._frame.source.visibilities.is_visible
        return None if found is None else visible(found.model, self.model)

    @property
    def executed(self) -> bool | None:
        """Whether the conditions hold that it is under; None where only the GPU knows."""
        executed = self.model.execution
        return None if executed is Executed.UNKNOWN else executed is Executed.YES

    @property
    def condition(self) -> str | None:
        """The condition that ``executed`` depends on, in words."""
        return self.model.condition

    # -- its state and memory -------------------------------------------------------------------

    @property
    def state(self) -> RegisterState:
        """The registers. For an action other than the program's draws, each call costs a walk.

        Raises CaptureError for one that is not executed, and for a packet that copies memory.
        """
        if self.kind == "copy":
            raise CaptureError(f"registers at {self.packet} are not recorded")
        last = (source := self._frame.source).last_state  # scripts ask again and again
        return last if last is not None and last.action is self.model else source.state(self.model)

    @property
    def memory(self) -> Memory:
        """The memory of its submit, as captured."""
        return self._frame.source.memory(self.submit)

    def _pictures(self) -> Pictures:
        return self._frame.source.pictures(self.submit)

    def to_dict(self) -> dict[str, Any]:
        """Its object in the document of ``cffpy draws --json``."""
        from cffpy.views.state import action_document

        return action_document(self.model)

    @property
    def shaders(self) -> dict[str, Shader]:
        """The program of each stage that runs, where it was captured: ``shaders["FS"]``."""
        found = {
            stage: self._frame.source.shader(self.submit, stage, gpuaddr)
            for stage, gpuaddr in self.model.programs
        }
        return ByStage((stage, shader) for stage, shader in found.items() if shader is not None)

    def __repr__(self) -> str:
        words = [type(self).__name__, self.name or "", self.role, self.primitive or self.packet]
        if self.vertices is not None:
            words.append(f"{self.vertices} vertices")
        return f"<{' '.join(filter(None, words))} at {self.place.gpuaddr:#x}>"

    def _repr_html_(self) -> str:
        from cffpy.api.notebook import table

        document = self.to_dict()
        document["place"] = str(self.place)
        return table(("", ""), document.items())


class Draw(Action):
    """One of the program's draws, dispatches or copies, each once: ``Pass.draws``."""

    __slots__ = ()

    @property
    def number(self) -> int:
        """Its number among the draws of its pass."""
        number = self.model.number
        assert number is not None
        return number

    @property
    def bound(self) -> Bound:
        """The object behind ``textures`` and the others; its shape may change."""
        return self._frame.source.bound(self.model)

    @property
    def descriptors(self) -> list[Descriptor]:
        """All its descriptors, by kind, stage or set, and slot: also those that it does not use.

        A slot is ``bound`` if it has a descriptor, ``enabled`` if the count registers include it,
        ``used`` if a program of the stages that run reads, samples or writes it. Of a bindless set,
        whose length is not recorded, only those that are or may be used. Where the use cannot be
        known, a slot counts as used, and is not ``sure``.
        """
        return self._frame.source.bound(self.model).all_descriptors()

    @property
    def textures(self) -> list[Descriptor]:
        """The textures that it uses, by stage or set and slot; all that are bound: ``descriptors``.

        Those that instructions of its programs name; where an index is in a register, all enabled
        ones of the stage, or all of the set that look like textures.
        """
        return self._frame.source.bound(self.model).descriptors("texture")

    @property
    def images(self) -> list[NamedImage]:
        """Its textures and targets, and what it copies, with their captured contents."""
        from cffpy.api.pictures import named_images

        textures = ((one.label, partial(getattr, one, "image")) for one in self.textures)
        found = named_images("texture", textures)
        found += [] if self.pass_ is None else _images_of(self.pass_, self.targets)
        return found + super().images

    @property
    def samplers(self) -> list[Descriptor]:
        """The samplers that it uses; see ``textures``."""
        return self._frame.source.bound(self.model).descriptors("sampler")

    @property
    def storage(self) -> list[Descriptor]:
        """The storage buffers and images that it uses: ``reads``, ``writes``; see ``textures``.

        Up to a5xx, each has descriptors of two kinds: "storage" and "storage size".
        """
        return self._frame.source.bound(self.model).descriptors("storage", "storage size")

    @property
    def uniform_buffers(self) -> list[DataBuffer]:
        """The captured data of the uniform buffers that it uses; see ``textures``."""
        return self._frame.source.bound(self.model).buffers("uniform data")

    @property
    def vertex_buffers(self) -> list[DataBuffer]:
        """The captured data that it can fetch as vertices."""
        return self._frame.source.bound(self.model).buffers("vertex buffer")

    @property
    def attributes(self) -> list[VertexAttribute]:
        """Its vertex attributes: ``format``, ``buffer``, ``offset``, ``stride``, ``instanced``.

        Empty for what draws no vertices.
        """
        return attributes_of(self._frame.source, self.model)

    @property
    def constants(self) -> list[Constants]:
        """The constants that packets loaded, by stage and slot, and push constants."""
        return self._frame.source.bound(self.model).constants()

    @property
    def executions(self) -> list[Action]:
        """All executions of it: in the binning run and in tiles."""
        found = self.pass_
        return [self] if found is None else self._frame.executions(found.model, self.number)


class Pass:
    """A render pass, or a group of dispatches or copies between passes.

    Properties are None where the command stream does not have them. Sizes and rectangles are
    pixels.
    """

    __slots__ = ("__weakref__", "_draws", "_frame", "_tiles", "model")

    def __init__(self, frame: Frame, found: model.Pass) -> None:
        self._frame = frame
        #: The object that the commands use; its shape may change.
        self.model = found
        self._draws: Selection[Draw] | None = None
        self._tiles: Selection[Tile] | None = None

    @property
    def index(self) -> int:
        """Its number: the index in ``Capture.passes``."""
        return self.model.index

    @property
    def kind(self) -> str:
        """One of "render", "compute", "transfer"."""
        return self.model.kind

    @property
    def mode(self) -> str | None:
        """One of "gmem", "sysmem"; None where it is not a render pass."""
        return self.model.mode

    @property
    def submit(self) -> int:
        """Number of its submit: the index in ``Capture.submits``."""
        return self.model.submit

    @property
    def hardware_binning(self) -> bool:
        """Whether it has a binning run."""
        return self.model.hardware_binning

    @property
    def concurrent(self) -> str | None:
        """Whether the pipe BV bins it while BR renders what came before (a7xx).

        One of "yes", "no", "decided by the GPU"; None where the stream names no pipes. Of a sysmem
        pass, whether BV clears its LRZ.
        """
        return self.model.concurrent

    @property
    def waits(self) -> list[PipeWait]:
        """What the pipes BR and BV wait for in it, and before it since the pass before (a7xx).

        Each has ``pipe``, ``kind``, ``wanted``, ``state``, ``place`` and ``signal``, which is None
        or has ``pipe`` and ``place``: that of the packet that signals it. ``state`` is one of
        "signalled", "held before", "never" and "unknown".
        """
        return self.model.waits

    @property
    def framebuffer(self) -> Size | None:
        """Width and height of the framebuffer."""
        return self.model.framebuffer

    @property
    def width(self) -> int | None:
        """Width of the framebuffer."""
        size = self.model.framebuffer
        return None if size is None else size.width

    @property
    def height(self) -> int | None:
        """Height of the framebuffer."""
        size = self.model.framebuffer
        return None if size is None else size.height

    @property
    def render_area(self) -> Rectangle | None:
        """The part of the framebuffer that is rendered to."""
        return self.model.render_area

    @property
    def layers(self) -> int | None:
        """Layers of the framebuffer."""
        return self.model.layers

    @property
    def samples(self) -> int | None:
        """Samples of a pixel."""
        return self.model.samples

    @property
    def attachments(self) -> list[Attachment]:
        """The buffers that its draws render to."""
        return self.model.attachments

    @property
    def images(self) -> list[NamedImage]:
        """Its attachments, with what the capture has of their contents."""
        return _images_of(self, self.attachments)

    def image(self, attachment: str = "color 0") -> CapturedImage:
        """The image of an attachment, by its name, as in "color 0", "depth".

        Raises PictureError where its memory is not known.
        """
        return self._frame.source.pictures(self.submit).attachment(self.model, attachment)

    def picture(
        self,
        attachment: str = "color 0",
        layer: int = 0,
        **options: Any,  # noqa: ANN401
    ) -> Picture:
        """What the capture has of an attachment, from before its commands ran.

        See ``CapturedImage.picture``.
        """
        return self.image(attachment).picture(0, layer, **options)

    @property
    def operations(self) -> list[Operation]:
        """Loads, clears and stores of all tiles, in order; see their ``kind``, ``attachment``."""
        return [operation for run in self.model.runs for operation in run.operations]

    @property
    def bin_size(self) -> Size | None:
        """Width and height of a tile."""
        return self.model.bin_size

    @property
    def grid(self) -> Size | None:
        """Columns and rows of tiles."""
        return self.model.grid

    @property
    def pipes(self) -> list[Pipe]:
        """The VSC pipes in use, with their rectangles in tiles."""
        return self.model.pipes

    @property
    def tiles(self) -> Selection[Tile]:
        """The tiles in the order of execution; empty in sysmem mode."""
        if self._tiles is None:
            self._tiles = Selection(self.model.tiles, self._frame.source, choose_tiles)
        return self._tiles

    @property
    def visibility(self) -> PassVisibility:
        """The visibility streams: ``pipes``, and by tile what is executed in it.

        ``reason`` says why there are none to decode. Kept for one pass of the capture at a time.
        """
        return self._frame.source.visibilities.of(self.model)

    @property
    def draws(self) -> Selection[Draw]:
        """The program's draws, each once; of a group, its dispatches or copies."""
        if self._draws is None:
            found = (self._frame.draw(draw) for draw in self.model.draws)
            self._draws = Selection(found, self._frame.source, choose_draws)
        return self._draws

    @property
    def actions(self) -> list[Action]:
        """Everything that is executed in it, in order."""
        return self._frame.actions_of(self.model.actions)

    @property
    def lrz(self) -> Lrz | None:
        """Its low-resolution depth buffer."""
        return self.model.lrz

    @property
    def events_before(self) -> dict[str, int]:
        """Waits and cache events between the pass before and this one: name -> how many.

        Found for all passes together, by a walk over the commands.
        """
        return dict(self._frame.source.pass_events.get(self.index, {}))

    @property
    def markers(self) -> tuple[str, ...]:
        """The debug markers that are open around it, outermost first."""
        return self.model.markers

    @property
    def unknown(self) -> list[str]:
        """What could not be determined, as text."""
        return self.model.unknown

    @property
    def first(self) -> PacketLocation:
        """Where its first packet is."""
        return self.model.first

    @property
    def last(self) -> PacketLocation:
        """Where its last packet is."""
        return self.model.last

    def to_dict(self) -> dict[str, Any]:
        """Its object in the document of ``cffpy passes --json``."""
        from cffpy.frame.faces import facts_document

        return facts_document(self.model)

    def __repr__(self) -> str:
        words = [f"Pass {self.index}", self.kind, self.mode or "", str(self.framebuffer or "")]
        return f"<{' '.join(filter(None, words))}, {len(self.model.draws)} draws>"

    def _repr_html_(self) -> str:
        from cffpy.api.notebook import table

        rows = [(d.name, d.primitive, d.vertices, d.instances, d.place) for d in self.draws]
        head = f"<b>{repr(self)[1:-1]}</b>"
        return head + table(("draw", "primitive", "vertices", "instances", "packet"), rows)


def _images_of(one: Pass, targets: Iterable[Attachment]) -> list[NamedImage]:
    from cffpy.api.pictures import named_images

    return named_images("target", ((t.name, partial(one.image, t.name)) for t in targets))


class Frame:
    """The passes and actions of a capture, one object each as long as one is held.

    They have the frame, which has weak references: objects that nobody holds are freed at once.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        source.frame, source.make_frame = ref(self), Frame
        self._found: list[model.Pass] | None = source.walked.finder.found.passes
        self._passes: WeakValueDictionary[int, Pass] = WeakValueDictionary()
        self._actions: WeakValueDictionary[int, Action] = WeakValueDictionary()
        #: ``order`` of the program's draws of all passes, once asked for.
        self._drawn: frozenset[int] | None = None
        #: Index of a pass -> number of a draw -> its executions.
        self._executions: dict[int, dict[int, list[actions.Action]]] = {}

    @classmethod
    def of(cls, source: Source) -> Frame:
        """The frame of a source; a new one where nobody holds an object of it."""
        known = None if source.frame is None else source.frame()
        return known if isinstance(known, cls) else cls(source)

    @property
    def _models(self) -> list[model.Pass]:
        if self._found is None:
            raise UsageError("the capture is closed")
        return self._found

    def passes(self) -> Selection[Pass]:
        """The passes in order. Raises UsageError for a capture that was closed."""
        found = (self.pass_(index) for index in range(len(self._models)))
        return Selection(found, self.source, choose_passes)

    def pass_(self, index: int) -> Pass:
        """A pass by its index. Raises UsageError for a capture that was closed."""
        known = self._passes.get(index)
        if known is None or self._found is None:
            known = self._passes[index] = Pass(self, self._models[index])
        return known

    def release(self) -> None:
        """The capture is closed."""
        self._found = None
        self._executions.clear()

    def draw(self, found: actions.Action) -> Draw:
        """One of the program's draws."""
        known = self._actions.get(found.order)
        if not isinstance(known, Draw):
            known = self._actions[found.order] = Draw(self, found)
        return known

    def actions_of(self, found: Iterable[actions.Action]) -> list[Action]:
        """Actions; those that are the program's draws are Draws."""
        if self._drawn is None:
            drawn = (draw.order for one in self._models for draw in one.draws)
            self._drawn = frozenset(drawn)
        wanted = []
        for action in found:
            known = self._actions.get(action.order)
            if known is None:
                kind = Draw if action.order in self._drawn else Action
                known = self._actions[action.order] = kind(self, action)
            wanted.append(known)
        return wanted

    def executions(self, found: model.Pass, number: int) -> list[Action]:
        """All executions of a draw of the program; the pass is searched once for all."""
        known = self._executions.get(found.index)
        if known is None:
            known = self._executions[found.index] = {}
            for action in found.actions:
                if action.number is not None:
                    known.setdefault(action.number, []).append(action)
        return self.actions_of(known.get(number, ()))

    def transfers(self) -> list[Action]:
        """Actions with transfers, and packets that copy memory."""
        finder = self.source.walked.finder
        found = self.actions_of(one for one in finder.actions if one.transfers)
        copies = [Action(self, one) for one in finder.memory_copies]
        return sorted([*found, *copies], key=lambda one: one.order)
