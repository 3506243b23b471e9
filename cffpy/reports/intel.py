# SPDX-License-Identifier: MIT
"""The report of a capture of an Intel GPU: its document, and what its page shows.

The page has no scripts. Draws have their bindings as those of all captures have them; what only
Intel GPUs have (binding tables, sets, push constants, batches, flushes) is facts, too.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypedDict

from cffpy.api.comparison import diff
from cffpy.document_types import Facts, Of
from cffpy.frame.faces import facts_document, facts_documents
from cffpy.frame.facts import Address, described
from cffpy.frame.places import name_of
from cffpy.intel.views import texts
from cffpy.reports.columns import Cuts
from cffpy.reports.differences import differences
from cffpy.reports.documents import ReportedComparison
from cffpy.views.passes import pass_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cffpy.api.capture import Capture
    from cffpy.api.intel import Intel
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.register_state import Change
    from cffpy.intel.analysis.surfaces import Surface

SCHEMA = "cffpy.intel-report/1"

#: Passes and actions that a report has; draws whose state is shown, surfaces, uses of a surface.
_MAX_PASSES, _MAX_ACTIONS = 2000, 60_000
MAX_DRAWS, _MAX_SURFACES, _MAX_USES = 4000, 1 << 14, 64


@described(
    "batch",
    submit="number of the submission",
    address="its GPU address",
    runs="how often it is run",
    actions="numbers of the actions in it",
)
class Batch(NamedTuple):
    """A batch that is run."""

    submit: int
    address: Address
    runs: int
    actions: list[int]


@described(
    "field_change",
    field="name of the field",
    before="its text at the draw before; empty where nothing was set",
    now="its text now",
)
class FieldChange(NamedTuple):
    """A field that changed since the draw before."""

    field: str
    before: str
    now: str


@described(
    "state_change",
    register="what changed: an instruction, a structure in memory, or a register",
    address="GPU address of the instruction that set it",
    fields="its fields that changed",
)
class StateChange(NamedTuple):
    """What changed since the draw before."""

    register: str
    address: Address | None
    fields: list[FieldChange]


@described(
    "surface_use",
    names={"way": "as"},
    action="number of the action",
    draw="its name; None for work of the driver",
    way="how it gets to the surface",
)
class SurfaceUse(NamedTuple):
    """An action that uses a surface."""

    action: int
    draw: str | None
    way: str


_PassFacts = TypedDict(
    "_PassFacts", {"pass": Annotated[Facts, "the pass", Of("cffpy.frame.passes:Pass")]}
)


class ReportPassDocument(_PassFacts):
    """A pass of a report."""

    hiz: Annotated[bool, "hierarchical depth is on"]
    draws: Annotated[list[int], "numbers of its actions"]
    flushes: Annotated[
        list[Facts], "what is flushed before it", Of("cffpy.intel.analysis.survey:Flush")
    ]
    lines: Annotated[list[str], "the pass as text"]


class ReportActionDocument(TypedDict):
    """An action of a report."""

    action: Annotated[Facts, "the action", Of("cffpy.frame.action:Action")]
    counts: Annotated[str, "how much it draws or computes, as text"]
    what: Annotated[str, "what it is, as text"]
    uses: Annotated[
        Facts | None,
        "what it uses; null for work of the driver",
        Of("cffpy.intel.analysis.draw_state:DrawState"),
    ]
    bindings: Annotated[list[Facts], "what it has bound", Of("cffpy.frame.binding:Binding")]
    changes: Annotated[
        list[Facts],
        "what changed since the draw before",
        Of("cffpy.reports.intel:StateChange"),
    ]


class ReportSurfaceDocument(TypedDict):
    """A surface of a report."""

    surface: Annotated[Facts, "the surface", Of("cffpy.intel.analysis.surfaces:Surface")]
    text: Annotated[str, "the surface in one line"]
    uses: Annotated[list[Facts], "what uses it", Of("cffpy.reports.intel:SurfaceUse")]


class IntelReportDocument(TypedDict):
    """Everything that the page of an Intel capture shows: cffpy report --json."""

    info: Annotated[Facts, "the file", Of("cffpy.analysis.summary:CaptureSummary")]
    batches: Annotated[list[Facts], "the batches that are run", Of("cffpy.reports.intel:Batch")]
    passes: Annotated[list[ReportPassDocument], "the passes"]
    draws: Annotated[list[ReportActionDocument], "the actions"]
    surfaces: Annotated[list[ReportSurfaceDocument], "all surfaces"]
    comparison: Annotated[
        ReportedComparison | None,
        "differences from the capture of --compare; null without it. A row is an action's number",
    ]
    cut: Annotated[list[str], "what was left out, in words"]


class IntelReport:
    """What the page of an Intel capture shows."""

    #: Name and version of its document.
    schema = SCHEMA

    def __init__(self, document: IntelReportDocument) -> None:
        """Use ``report_of_intel``."""
        self._document = document

    def page(self) -> bytes:
        """The page of ``cffpy report``, in UTF-8: one HTML file that needs nothing else."""
        from cffpy.views.intel_report_html import page

        return page(self._document)

    def pieces(self) -> list[bytes]:
        """The page in pieces."""
        return [self.page()]

    def to_dict(self) -> IntelReportDocument:
        """The document of ``cffpy report --json``, without its schema."""
        return self._document

    @property
    def cut(self) -> list[str]:
        """What was left out, as text."""
        return self._document["cut"]

    def __repr__(self) -> str:
        return f"<IntelReport: {len(self._document['passes'])} passes>"


def report_of_intel(capture: Capture, compare: Capture | None = None) -> IntelReport:
    """The report of a capture of an Intel GPU: passes, draws with what they use, surfaces, batches.

    ``compare``: another capture; the report has what differs from it. Raises UnsupportedGpu for an
    unknown device.
    """
    intel = capture.intel
    assert intel is not None
    cuts = Cuts()
    shown = _ActionDocuments(capture, intel, cuts)
    compared = None
    if compare is not None:
        orders = {order: order for order in range(min(len(intel._survey.actions), _MAX_ACTIONS))}
        compared = differences(diff(compare, capture), orders, cuts)
    passes = intel._survey.passes[:_MAX_PASSES]
    for what, count, most in (
        ("passes", len(intel._survey.passes), _MAX_PASSES),
        ("actions", len(intel._survey.actions), _MAX_ACTIONS),
    ):
        if count > most:
            cuts.note(f"{what} after the first {most:,}")
    return IntelReport(
        {
            "info": facts_document(intel._summary),
            "batches": list(facts_documents(_batches(intel))),
            "passes": [_pass(one, capture, intel) for one in passes],
            "draws": list(shown),
            "surfaces": shown.surfaces(),
            "comparison": compared,
            "cut": cuts.texts,
        }
    )


def _pass(one: Pass, capture: Capture, intel: Intel) -> ReportPassDocument:
    survey = intel._survey
    return {
        "pass": facts_document(one),
        "hiz": survey.uses[one.draws[0].order].has_hiz,
        "draws": [action.order for action in one.draws],
        "flushes": list(facts_documents(survey.flushes[one.index])),
        "lines": [*pass_lines(one), *capture._source.pass_lines(one)],
    }


def _batches(intel: Intel) -> list[Batch]:
    """Batches that run, in the order of their first run, with the actions in them."""
    walk = intel._survey.run.walk
    runs = {} if walk is None else walk.batches
    found = {key: Batch(*key, count, []) for key, count in runs.items()}
    for action in intel._survey.actions:
        one = found.get((action.submit, intel._survey.uses[action.order].batch))
        if one is not None:
            one.actions.append(action.order)
    return list(found.values())


class _ActionDocuments:
    """The actions of a report, and the surfaces that they use."""

    def __init__(self, capture: Capture, intel: Intel, cuts: Cuts) -> None:
        self._intel = intel
        self._surfaces: dict[tuple[int, str], tuple[Surface, list[SurfaceUse]]] = {}
        draws = [one for one in capture.draws if one.order < _MAX_ACTIONS]
        self._draws: Mapping[int, Action] = {one.order: one for one in draws[:MAX_DRAWS]}
        intel._prepare([*self._draws.values()])
        missing = [one for one in self._draws if not intel._is_prepared(one)]
        if len(draws) > MAX_DRAWS or missing:
            first = len(self._draws) - len(missing)
            cuts.note(f"the state of draws after the first {first:,}")
        self._draws = {key: one for key, one in self._draws.items() if key not in missing}

    def __iter__(self) -> Iterator[ReportActionDocument]:
        for action in islice(self._intel._survey.actions, _MAX_ACTIONS):
            yield self._document(action)

    def _document(self, action: Action) -> ReportActionDocument:
        uses = self._intel._survey.uses[action.order]
        self._note_uses(action)
        document: ReportActionDocument = {
            "action": facts_document(action),
            "counts": texts.describe_counts(action, uses),
            "what": texts.describe_role(action),
            "uses": None,
            "bindings": [],
            "changes": [],
        }
        draw = self._draws.get(action.order)
        if draw is not None:
            used = self._intel._used_by(draw)
            for one in used.sets:
                where = "set" if one.number is None else f"set {one.number}"
                for descriptor in one.descriptors:
                    way = f"{where}, descriptor {descriptor.offset:#x}"
                    self._note(action, descriptor.surface, way)
            document["uses"] = used.to_dict()
            document["bindings"] = list(facts_documents(draw.bindings))
            document["changes"] = list(facts_documents(map(_change, draw.state.changed)))
        return document

    def _note_uses(self, action: Action) -> None:
        uses = self._intel._survey.uses[action.order]
        for table in uses.tables:
            for entry in table.entries:
                way = f"{table.stage} table entry {entry.number}"
                self._note(action, entry.surface, entry.role or way)
        self._note(action, uses.depth, "depth")
        self._note(action, uses.stencil, "stencil")

    def _note(self, action: Action, surface: Surface | None, way: str) -> None:
        if surface is None or surface.is_null or not surface.address:
            return
        key = surface.address, surface.describe()
        if key not in self._surfaces:
            if len(self._surfaces) >= _MAX_SURFACES:
                return
            self._surfaces[key] = surface, []
        uses = self._surfaces[key][1]
        if len(uses) < _MAX_USES:
            name = None if action.number is None else name_of(action)
            uses.append(SurfaceUse(action.order, None if name is None else str(name), way))

    def surfaces(self) -> list[ReportSurfaceDocument]:
        """All surfaces, by address. To be asked for after the actions."""
        found = sorted(self._surfaces.values(), key=lambda one: one[0].address)
        return [
            {
                "surface": facts_document(surface),
                "text": surface.describe(),
                "uses": list(facts_documents(uses)),
            }
            for surface, uses in found
        ]


def _change(one: Change) -> StateChange:
    """The fields that changed; of a register without fields its value."""
    write, before, now = one.now.written_by, one.before.fields, one.now.fields
    fields = [
        FieldChange(name, before[name].text if name in before else "", field.text)
        for name, field in now.items()
        if name not in before or before[name].text != field.text
    ]
    if not now:
        was = one.before.text if one.before.is_written else ""
        fields = [FieldChange("", was, one.now.text)]
    return StateChange(one.name, None if write is None else write.place.gpuaddr, fields)
