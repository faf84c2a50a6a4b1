"""`read: logprob` and `cite: sentence` through the command, against endpoints with and without log probabilities."""

import json
import math
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

JUDGE = """\
protocol: checklist
models: [openai/fake-judge]
{setting}
criteria:
  - id: quality
    levels: [0, 2]
    checks:
      - {{id: fact, ask: Does it state the fact?}}
      - {{id: more, ask: Does it state more?}}
"""
PROBABILITIES = {"the fact": {"Yes": 0.6, "yes": 0.1, "No": 0.2, "It": 0.1}, "more": {"No": 0.9, " yes": 0.1}}


class Endpoint(ThreadingHTTPServer):
    """Answers every question; `kind` is `full`, `ignores` (no log probabilities come) or `refuses` (status 400)."""

    def __init__(self, kind):
        super().__init__(("127.0.0.1", 0), Handler)
        self.kind, self.bodies = kind, []
        self.base_url = f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        status, document = 200, completion(body, self.server.kind)
        if self.server.kind == "refuses" and "logprobs" in body:
            error = {"message": "logprobs are not supported by this model", "param": "logprobs"}
            status, document = 400, {"error": error}
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Nothing is printed."""


def completion(body, kind):
    asked = body["messages"][-1]["content"]
    message, logprobs = {"role": "assistant", "content": "Yes"}, None
    if "response_format" in body:
        checks = [{"id": "fact", "cite": [2], "passed": True}, {"id": "more", "cite": [], "passed": True}]
        message["content"] = json.dumps({"checks": checks})
    elif kind == "full":
        found = next(found for words, found in PROBABILITIES.items() if words in asked.rpartition("question")[2])
        listed = [{"token": token, "logprob": math.log(p)} for token, p in found.items()]
        message["content"] = listed[0]["token"]
        logprobs = {"content": [{**listed[0], "top_logprobs": listed}]}
    choice = {"index": 0, "message": message, "finish_reason": "length", "logprobs": logprobs}
    if "response_format" in body:
        choice["finish_reason"] = "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101}
    return {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}


@pytest.fixture
def serve():
    """serve(kind): a running endpoint."""
    running = []

    def start(kind):
        server = Endpoint(kind)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()


def prepare(desk, setting):
    (desk.folder / "judge.yaml").write_text(JUDGE.format(setting=setting))
    item = {"id": "a", "task": "Say it.", "candidate": "Good day. The answer is four. It ends."}
    (desk.folder / "items.jsonl").write_text(json.dumps(item) + "\n")


def test_probabilities_reach_the_record_and_can_be_read_again_offline(desk, serve):
    prepare(desk, "read: logprob")
    endpoint = serve("full")
    done = desk.judge(endpoint, "-o", "records.jsonl", OPENAI_API_KEY="sk-test")
    assert done.returncode == 0, done.stderr
    assert len(endpoint.bodies) == 2
    for body in endpoint.bodies:
        assert (body["logprobs"], body["top_logprobs"], body["max_tokens"]) == (True, 20, 1)
        assert "response_format" not in body
        assert "tools" not in body
    (record,) = desk.records()
    fact, more = record["criteria"][0]["checks"]
    assert (fact["passed"], fact["counted"], fact["probability"], fact["mass"]) == (True, True, 0.777777778, 0.9)
    assert (more["passed"], more["probability"], more["mass"]) == (False, 0.1, 1.0)
    assert (record["status"], record["score"], record["flags"]) == ("verdict", 1, ["quotes_not_asked"])
    assert len(record["keys"]) == 2
    assert record["usage"]["output_tokens"] == 2
    assert desk.run("rescore", "records.jsonl", "--check").returncode == 0
    again = desk.judge(endpoint, "-o", "again.jsonl", OPENAI_API_KEY="sk-test")
    assert again.returncode == 0
    assert len(endpoint.bodies) == 2
    assert desk.records("again.jsonl") == desk.records()


@pytest.mark.parametrize("kind", ["ignores", "refuses"])
def test_an_endpoint_without_log_probabilities_is_an_error_and_never_another_way_of_reading(kind, desk, serve):
    prepare(desk, "read: logprob")
    endpoint = serve(kind)
    done = desk.judge(endpoint, "-o", "records.jsonl", OPENAI_API_KEY="sk-test")
    assert done.returncode == 3, done.stderr
    said = " ".join(done.stderr.split())
    assert "returns no log probabilities; use `read: json`" in said
    assert all(body["max_tokens"] == 1 for body in endpoint.bodies)
    asked = len(endpoint.bodies)
    desk.judge(endpoint, "-o", "more.jsonl", OPENAI_API_KEY="sk-test")
    assert len(endpoint.bodies) > asked  # nothing was stored that could not be read


def test_a_dry_run_counts_one_token_a_check(desk):
    prepare(desk, "read: logprob\nmax_tokens: 500")
    done = desk.run("judge", "judge.yaml", "items.jsonl", "--dry-run", "--json")
    found = json.loads(done.stdout)
    assert (found["calls"], found["output_tokens"], found["output_tokens_at_most"]) == (2, 2, 2)


def test_cited_sentences_reach_the_record(desk, serve):
    prepare(desk, "cite: sentence")
    endpoint = serve("full")
    done = desk.judge(endpoint, "-o", "records.jsonl", OPENAI_API_KEY="sk-test")
    assert done.returncode == 0, done.stderr
    (record,) = desk.records()
    fact, more = record["criteria"][0]["checks"]
    assert (fact["quote"], fact["quote_status"], fact["sentences"]) == ("The answer is four.", "exact", [2])
    assert (fact["span"], fact["counted"]) == ([10, 29], True)
    assert (more["passed"], more["counted"], more["sentences"], more["quote"]) == (True, False, [], "")
    assert record["score"] == 1
    assert desk.run("rescore", "records.jsonl", "--check").returncode == 0
