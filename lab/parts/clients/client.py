import json
import os
from email import charset, policy
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

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
    "nested": {
        "data": {
            "status": "PAID",
            "payer[name]": os.environ["NAME"],
            "payer[tags][]": ["a", "b"],
        }
    },
    "files": {
        "data": {'note "a"': "x"},
        "files": {"slip": ('João "1".txt', b"hello", "text/plain")},
    },
    # A file whose part has no content type.
    "untyped": {"files": {"receipt": ("receipt.pdf", b"%PDF-1.4\xff\xfe" + os.environ["NAME"].encode("latin-1"))}},
    "typed": {"files": {"receipt": ("receipt.pdf", b"%PDF-1.4\xff\xfe" + os.environ["NAME"].encode("latin-1"), "application/pdf")}},
}


def mail():
    """A form made with Python's own email package: coded parts, and headers that are folded."""
    quoted = charset.Charset("utf-8")
    quoted.body_encoding = charset.QP
    form = MIMEMultipart("form-data")
    long = "what the payer wrote beside it, which is long enough for a second line"
    for name, coding in [("base64", "utf-8"), ("quoted-printable", quoted), (long, "utf-8")]:
        part = MIMEText(os.environ["NAME"], "plain", coding)
        part.add_header("Content-Disposition", "form-data", name=name)
        form.attach(part)
    lines = policy.compat32.clone(linesep="\r\n")
    body = form.as_bytes(policy=lines).split(b"\r\n\r\n", 1)[1]
    content_type = " ".join(form["Content-Type"].split())
    return {"data": body, "headers": {"Content-Type": content_type}}


kinds["mail"] = mail()
answer = requests.post(os.environ["URL"], verify=os.environ["CA"], timeout=60, **kinds[os.environ["KIND"]])
print(answer.status_code)
