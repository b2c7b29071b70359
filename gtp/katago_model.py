"""The network as KataGo's protocols describe one, in GTP and in JSON."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.engine import Engine

# Version of the model files' format, a whole number because programs expect one; there is one format.
MODEL_FORMAT = 1


def describe_model(engine: "Engine") -> dict[str, Any]:
    """Return the network of an engine under KataGo's names."""
    return {
        "name": engine.options.model, "internalName": str(getattr(engine.evaluator, "description", "")),
        "version": MODEL_FORMAT, "maxBatchSize": engine.tree.params.batch_size, "usesHumanSLProfile": False,
        "usingFP16": "false",
    }
