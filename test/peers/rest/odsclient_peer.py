import json
import os
import sys
import tempfile

import pandas
import requests
from odsclient import ODSClient

base = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:3000"
client = ODSClient(platform_id=None, base_url=base, use_keyring=False)
catalog = requests.get(f"{base}/api/explore/v2.1/catalog/datasets?limit=100").json()["results"]

for dataset in catalog:
    name, count = dataset["dataset_id"], dataset["metas"]["default"]["records_count"]
    labels = [field["label"] for field in dataset["fields"]]
    names = [field["name"] for field in dataset["fields"]]
    frame = client.get_whole_dataframe(name)
    assert len(frame) == count, f"{name}: {len(frame)} of {count}"
    assert list(frame.columns) == labels, f"{name}: {list(frame.columns)}"
    text = client.get_whole_dataset(name, timezone="Europe/Paris", use_labels_for_header=False, csv_separator=",")
    assert text.split("\r\n")[0] == ",".join(names), f"{name}: {text[:100]}"
    assert len(json.loads(client.get_whole_dataset(name, format="json"))) == count, f"{name}: JSON"
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "whole.csv")
        client.get_whole_dataset(name, to_path=file)
        assert len(pandas.read_csv(file, sep=";")) == count, f"{name}: file"
    print(name, count)
print("fine")
