"""The edges of the graph: from each node, those that can come next. ``Supervisor.next_node`` chooses among them.

The graph is compiled with this table, so what is drawn is what can happen, and a way that is not in it is a mistake
that fails the run at once. Steps run side by side, so a node may come next for the sake of another step than the one
that was just looked at.
"""

from __future__ import annotations

from collections.abc import Hashable

from langgraph.graph import END, START

from orchestrator.asking import Pipeline

EDGES: dict[str, tuple[str, ...]] = {
    "decide": ("gate", "review", "revise", "advance", "await_batches", "finish"),
    "gate": ("dispatch", "recover", "interpret", "advance", "await_batches"),
    "advance": ("gate", "review", "dispatch", "recover", "interpret", "advance", "await_batches", "finish"),
    "dispatch": ("recover", "interpret", "advance", "await_batches"),
    "await_batches": (
        *("decide", "revise", "gate", "review", "dispatch", "recover", "interpret", "advance"),
        *("await_batches", "finish"),
    ),
    "interpret": ("gate", "review", "dispatch", "recover", "advance", "await_batches", "finish"),
    "recover": ("gate", "review", "dispatch", "recover", "interpret", "advance", "await_batches", "finish"),
    "review": ("await_batches",),
    "revise": ("gate", "dispatch", "recover", "interpret", "advance", "await_batches"),
    "finish": (END,),
}


def nodes_of(pipeline: Pipeline) -> tuple[str, ...]:
    """Give the nodes that a run of a pipeline can come to; a looped one to all there are."""
    return tuple(node for node in EDGES if node != "review" or pipeline is Pipeline.LOOPED)


def edges_of(node: str, pipeline: Pipeline) -> dict[Hashable, str]:
    """Give where a node can lead to; in a short pipeline no plan waits for its approval."""
    nodes = (*nodes_of(pipeline), END)
    without = {("decide", "gate")} if pipeline is Pipeline.SHORT else set()
    return {target: target for target in EDGES[node] if target in nodes and (node, target) not in without}


#: the ways that most runs take, and what leads along them; all others are taken where steps that run side by side, or
#: several people at once, leave something else to be done next
USUAL: dict[tuple[str, str], str] = {
    (START, "decide"): "",
    ("decide", "gate"): "plan",
    ("decide", "advance"): "plan",
    ("decide", "await_batches"): "question",
    ("decide", "finish"): "answer at once, or refusal",
    ("gate", "await_batches"): "asks for approval",
    ("advance", "gate"): "costly jobs",
    ("advance", "dispatch"): "specs frozen",
    ("advance", "finish"): "report written",
    ("dispatch", "await_batches"): "jobs queued",
    ("await_batches", "decide"): "answer",
    ("await_batches", "revise"): "change wanted",
    ("await_batches", "advance"): "approved",
    ("await_batches", "dispatch"): "cost approved",
    ("await_batches", "recover"): "answer",
    ("await_batches", "interpret"): "jobs ended",
    ("await_batches", "finish"): "rejected",
    ("interpret", "advance"): "next steps can begin",
    ("interpret", "dispatch"): "another round of jobs",
    ("interpret", "recover"): "jobs failed",
    ("interpret", "review"): "all steps done",
    ("recover", "dispatch"): "repair",
    ("recover", "await_batches"): "question",
    ("review", "await_batches"): "asks for approval",
    ("revise", "gate"): "changed plan",
    ("finish", END): "",
}


def usual_of(pipeline: Pipeline) -> dict[tuple[str, str], str]:
    """Give the ways that most runs of a pipeline take, with what leads along them."""
    # Past its approval no plan begins, except in a short pipeline, which asks for none.
    without = {("decide", "gate" if pipeline is Pipeline.SHORT else "advance")}
    nodes = (START, *nodes_of(pipeline), END)
    return {way: why for way, why in USUAL.items() if set(way) <= set(nodes) and way not in without}
