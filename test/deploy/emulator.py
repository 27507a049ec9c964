"""MiniStack with three corrections:

- It authorizes ssm:GetParametersByPath on "*", where AWS authorizes it on the path.
- It authorizes sqs:ChangeMessageVisibilityBatch and other batch actions, where AWS authorizes the single action.
- With TLS it also listens on port 443.
"""

import json

from ministack import app
from ministack.core import iam_actions

action_of = iam_actions.extract_iam_action
resource_of = iam_actions.extract_resource_arn


def without_batch(*given, **named):
    action = action_of(*given, **named)
    return action[: -len("Batch")] if action and action.startswith("sqs:") and action.endswith("Batch") else action


def with_paths(service, method, path, headers, body, query_params, region, account_id, *more, **named):
    if service == "ssm" and str(headers.get("x-amz-target", "")).endswith(".GetParametersByPath"):
        name = str(json.loads(body).get("Path", "")).rstrip("/")
        return f"arn:aws:ssm:{region}:{account_id}:parameter{name}"
    return resource_of(service, method, path, headers, body, query_params, region, account_id, *more, **named)


iam_actions.extract_iam_action = without_batch
iam_actions.extract_resource_arn = with_paths
app._port_is_bindable = lambda host, port: False

if __name__ == "__main__":
    app.main()
