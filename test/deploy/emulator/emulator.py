"""MiniStack with seven corrections:

- It authorizes ssm:GetParametersByPath on "*", where AWS authorizes it on the path.
- It authorizes sqs:ChangeMessageVisibilityBatch and other batch actions, where AWS authorizes the single action.
- CloudFormation creates a table that exists, where AWS fails.
- It has no CodeDeploy: applications and deployment groups do nothing.
- It refuses alarms over several metrics: they watch the first one.
- An update of a nested stack loses the attributes of unchanged resources.
- With TLS it also listens on port 443.
"""

import json

from ministack import app
from ministack.core import iam_actions
from ministack.services import dynamodb
from ministack.services.cloudformation import provisioners

table_handler = provisioners._RESOURCE_HANDLERS["AWS::DynamoDB::Table"]
create_table = table_handler["create"]
alarm_record = provisioners._cw_metric_alarm_record
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


def new_table(logical_id, properties, stack):
    name = properties.get("TableName")
    if name in dynamodb._tables:
        raise ValueError(f"Resource of type 'AWS::DynamoDB::Table' with identifier '{name}' already exists.")
    return create_table(logical_id, properties, stack)


def with_first_metric(name, properties):
    several = properties.get("Metrics", [])
    first = next((each["MetricStat"]["Metric"] for each in several if "MetricStat" in each), {})
    return alarm_record(name, {**properties, **first, "Metrics": None})


attributes_of = {}


def remembering(provision):
    def provisioned(*given, **named):
        physical_id, attributes = provision(*given, **named)
        if attributes:
            attributes_of[physical_id] = attributes
        return physical_id, attributes_of.get(physical_id, {})

    return provisioned


def nothing(logical_id, properties, stack):
    return properties.get("DeploymentGroupName") or properties.get("ApplicationName") or logical_id, {}


for kind in ("Application", "DeploymentGroup"):
    provisioners._RESOURCE_HANDLERS[f"AWS::CodeDeploy::{kind}"] = {
        "create": nothing,
        "update": lambda physical_id, *given: (physical_id, {}),
        "delete": lambda *given: None,
    }

table_handler["create"] = new_table
provisioners._provision_resource = remembering(provisioners._provision_resource)
provisioners._update_resource = remembering(provisioners._update_resource)
provisioners._cw_metric_alarm_record = with_first_metric
iam_actions.extract_iam_action = without_batch
iam_actions.extract_resource_arn = with_paths
app._port_is_bindable = lambda host, port: False

if __name__ == "__main__":
    app.main()
