# SPDX-License-Identifier: MIT
"""View: the base of the text view, as the functions that print see it.

It has the output, the decoder and the quiet levels. cffdump: printl, quiet, dump_hex, dump_float,
dump_gpuaddr_size, dump_domain (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.capture.gpu import Gpu
from cffpy.capture.memory import Words
from cffpy.cp.machine import Machine
from cffpy.cp.sink import Sink
from cffpy.editions.record import Edition, edition_record
from cffpy.regdb.database import Database
from cffpy.regdb.decode import Decoder
from cffpy.views.cffdump.hexdump import float_rows, hex_rows
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.cffdump.output import Complaints, Output, SegmentText
from cffpy.views.cffdump.packets import FieldTable
from cffpy.views.cffdump.quirks import COLOURS, LEVELS, PLAIN, fields_of, reference_half
from cffpy.views.cffdump.shaders import ShaderText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class View(Sink):
    """Prints text, memory and fields. ``complain`` takes a line for standard error."""

    uses_segments = True

    #: Whether statistics follow each program.
    shows_statistics = True

    #: Rows of hex: words, index, count, level, whether addresses have 64 bits.
    rows = staticmethod(hex_rows)

    def __init__(
        self,
        options: DumpOptions,
        output: Output,
        complain: Callable[[str], None],
        register_db: str | None = None,
    ) -> None:
        """``register_db``: directory of another edition, for its instruction sets."""
        self.options = options
        self.complain = Complaints(complain)
        self.output = output
        self.put = output.put
        self.put_large = output.put_large
        self.palette = COLOURS if options.color else PLAIN
        #: The edition that decodes the current generation.
        self.edition: Edition
        self.decoder: Decoder
        self.shaders: ShaderText
        self.generation = 0
        self.is_64bit = False
        #: The a5xx address latch.
        self.gpuaddr_lo = 0
        self.marker_depth = 0
        self.in_summary = False
        self._register_db = register_db
        self._fields: FieldTable
        self._sampled_draw = 0
        self._segment_keys: dict[tuple[object, ...], int] = {}
        self._update_quiet()

    def attach(self, machine: Machine) -> None:
        super().attach(machine)
        self.shaders = ShaderText(
            machine,
            self.output,
            self.hex,
            self._register_db,
            writes_files=self.options.dump_shaders,
            shows_statistics=self.shows_statistics,
        )

    def bind(self, gpu: Gpu, database: Database) -> None:
        """cffdump: init_rnn: a fresh database, so no current variants."""
        self.generation = gpu.generation
        self.is_64bit = gpu.is_64bit
        self.edition = edition_record(database.directory)
        self.decoder = Decoder(database, self.palette, fields_of(self.edition), reference_half)
        self.decoder.on_select = self._note_state
        self._fields = FieldTable(self.decoder)

    # -- output -----------------------------------------------------------------------------

    def _update_quiet(self) -> None:
        """cffdump: quiet: which levels are silent."""
        draw = self.options.draw
        hidden = draw is not None and draw != self._sampled_draw
        self.quiet1 = hidden
        self.quiet2 = hidden or bool(self.options.query or self.options.script)
        self.quiet3 = self.quiet2 or self.options.summary
        self._renew_segment_key()

    def show_all(self, shown: bool) -> None:
        """Whether to show what --summary hides, within one packet."""
        self.quiet3 = self.quiet2 or (self.options.summary and not shown)

    def hex(self, words: Words, index: int, count: int, level: int) -> None:
        """cffdump: dump_hex. A count below 0 is unsigned there: all that follows in the buffer."""
        if not self.quiet2:
            self.put_large(self.rows(words, index, count & 0xFFFFFFFF, level, self.is_64bit))

    def floats(self, words: Words, index: int, count: int, level: int) -> None:
        """cffdump: dump_float: at every level."""
        self.put_large(float_rows(words, index, count & 0xFFFFFFFF, level, self.is_64bit))

    def address_hex(self, gpuaddr: int, level: int, dwords: int, quiet: bool) -> None:
        """cffdump: dump_gpuaddr_size."""
        if quiet:
            return
        place = self.machine.image.place(gpuaddr)
        if place is not None:
            self.hex(*place, dwords, level + 1)

    def fields(self, domain: str, words: Words, index: int, count: int, level: int) -> None:
        """cffdump: dump_domain."""
        if not self.quiet2:
            left = min(count, words.count - index)
            self.put(self._fields.lines(domain, words.data, index, left, LEVELS[level])[0])

    # -- segments ---------------------------------------------------------------------------

    def _renew_segment_key(self) -> None:
        """What text depends on besides memory and registers has changed."""
        if self.options.dump_shaders or self.generation == 0:
            return  # each shader goes to its own file, or no file has begun
        state = (
            self.quiet2,
            self.gpuaddr_lo,
            self.decoder.variants_key,
            self.machine.image.epoch,
        )
        self.segment_key = self._segment_keys.setdefault(state, len(self._segment_keys))

    def segment_begin(self) -> int:
        return self.output.record((self.gpuaddr_lo, self.decoder.variants_key))

    def segment_mark(self) -> int:
        return self.output.mark()

    def segment_end(self, mark: int) -> tuple[object, int]:
        return self.output.recorded(mark)

    def segment_replay(self, payload: object) -> None:
        assert isinstance(payload, SegmentText)
        self.output.replay(payload, self.machine.state.registers)
        if payload.exit_state != (self.gpuaddr_lo, self.decoder.variants_key):
            self.gpuaddr_lo, variants_key = payload.exit_state
            self.decoder.restore(variants_key)
            self._renew_segment_key()

    def latch(self, value: int) -> None:
        """Set the a5xx address latch."""
        self.gpuaddr_lo = value
        self._note_state()

    def _note_state(self) -> None:
        """The address latch or the current variants have changed."""
        self.output.state_changed((self.gpuaddr_lo, self.decoder.variants_key))
        self._renew_segment_key()
