"""MiniStack, made to fit:

- It asks IAM about ssm:GetParametersByPath on "*", where AWS asks about the path, so that a role which may read
  one path only would be refused.
- It asks IAM about sqs:ChangeMessageVisibilityBatch and its like, where AWS asks about the action for one.
- With TLS it would take port 443 as well, if it can.
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
