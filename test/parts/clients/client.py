import json
import os

import requests

fields = {"status": "PAID", "name": os.environ["NAME"]}
kinds = {
    "json": {"json": fields},
    "latin1": {
        "data": json.dumps(fields, ensure_ascii=False).encode("latin-1"),
        "headers": {"Content-Type": "application/json; charset=ISO-8859-1"},
    },
    "form": {"data": fields},
    "multipart": {"files": {name: (None, value) for name, value in fields.items()}},
    "xml": {"data": os.environ["XML"].encode(), "headers": {"Content-Type": "application/xml"}},
    # A file whose part has no content type.
    "untyped": {"files": {"receipt": ("receipt.pdf", b"%PDF-1.4\xff\xfe" + os.environ["NAME"].encode("latin-1"))}},
    "typed": {"files": {"receipt": ("receipt.pdf", b"%PDF-1.4\xff\xfe" + os.environ["NAME"].encode("latin-1"), "application/pdf")}},
}
answer = requests.post(os.environ["URL"], verify=os.environ["CA"], timeout=60, **kinds[os.environ["KIND"]])
print(answer.status_code)
