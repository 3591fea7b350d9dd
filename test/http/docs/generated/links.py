"""Calls a service through the Python client that openapi-generator makes, and prints what it decoded."""

import http.client
import json
import sys
import time
import urllib.parse

import openapi_client as linkledger

address = sys.argv[1]
configuration = linkledger.Configuration(host=address)
api = linkledger.ApiClient(configuration)
links = linkledger.LinksApi(api)
keys = linkledger.APIKeysApi(api)

account = linkledger.AccountApi(api).post_register(
    linkledger.PostRegisterRequest(email="python@example.com", password="correct horse 1")
)
configuration.access_token = account.actual_instance.api_key

made = links.post_url_add(linkledger.PostUrlAddRequest(url="https://example.com/python", custom="python", tags=["made"]))
before = links.get_url_by_id(made.id)

# a visit as by a person; the redirect is not followed
visit = http.client.HTTPConnection(urllib.parse.urlsplit(address).netloc)
visit.request("GET", "/python", headers={"User-Agent": "curl/8.0"})
visited = visit.getresponse().status

after = before
deadline = time.monotonic() + 30
while after.data.clicks == 0 and time.monotonic() < deadline:
    time.sleep(0.05)
    after = links.get_url_by_id(made.id)

listed = links.get_urls(q="python", limit=5).actual_instance
key = keys.post_key_add(linkledger.PostKeyAddRequest(name="to delete", scopes=["read"]))
revoked = keys.delete_key_by_id_delete(key.id)
deleted = links.delete_url_by_id_delete(made.id)
try:
    links.get_url_by_id(made.id)
    gone = None
except linkledger.exceptions.NotFoundException as failure:
    gone = failure.data

print(
    json.dumps(
        {
            "alias": before.details.alias,
            "tags": before.details.tags,
            "before": [before.data.clicks, before.data.top_browsers],
            "visited": visited,
            "after": [after.data.clicks, after.data.top_countries],
            "listed": [link.longurl for link in listed.data.urls if link.id == made.id],
            "revoked": revoked.undo,
            "deleted": deleted.undo.method,
            "gone": [gone.code, gone.message] if gone else None,
        }
    )
)
