"""The whole command before a real endpoint: the address that was set before, the harness's own key, a swap."""

import http.server
import json
import threading

import pytest

KEY = "sk-the-harness-own-key"


@pytest.fixture
def endpoint():
    """An endpoint that repeats the proposed answer as its own, and remembers who asked."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append((self.path, self.headers.get("Authorization")))
            text = body["messages"][-1]["content"]
            own = text.split("Proposed answer: ")[-1].split("\n")[0]
            message = {"role": "assistant", "content": f"Quite so.\nMy answer: {own}"}
            reply = json.dumps({"choices": [{"index": 0, "message": message}]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v7", seen
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_base_url_keeps_its_path_and_query_and_neither_query_nor_token_is_kept(
    endpoint, evenhand, items, harness, tmp_path, monkeypatch
):
    base, seen = endpoint
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{base}/deployments/sk-0123456789abcdef/?api-version=7&api-key=QUERYKEY")
    done = evenhand("trace", "--items", items, "--out", "kept", "--json", "--", *harness("commit_visible"))
    assert done.code == 0, done.err
    assert {path for path, _ in seen} == {
        "/v7/deployments/sk-0123456789abcdef/chat/completions?api-version=7&api-key=QUERYKEY"
    }
    kept = done.out + "".join(path.read_text() for path in (tmp_path / "kept").iterdir())
    assert "/v7/deployments/***" in kept
    for secret in ("QUERYKEY", "sk-0123456789abcdef", KEY):
        assert secret not in kept


def test_a_base_url_with_a_password_is_refused_before_anything_runs(evenhand, items, harness, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "https://user:SECRETPW@example.org/v1")
    done = evenhand("trace", "--items", items, "--out", "kept", "--", *harness("commit_visible"))
    assert done.code == 2
    assert "user or password" in done.err
    assert "SECRETPW" not in done.err
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("how", ["set before", "named"])
def test_calls_go_to_the_endpoint_with_the_harness_own_key(
    how, endpoint, evenhand, items, harness, tmp_path, monkeypatch
):
    base, seen = endpoint
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", base if how == "set before" else "http://127.0.0.1:9/v1")
    named = ["--base-url", base] if how == "named" else []
    done = evenhand("trace", "--items", items, "--outcomes", "outcomes.jsonl", "--out", "kept", "--swap", 3, "--json",
                    *named, "--", *harness("commit_visible"))  # fmt: skip
    assert done.code == 0, done.err
    assert set(seen) == {("/v7/chat/completions", f"Bearer {KEY}")}
    evidence = done.document["evidence"]
    assert len(seen) == evidence["n_calls"] + 6
    assert (evidence["swap"]["n"], evidence["swap"]["moved"], evidence["swap"]["moved_unswapped"]) == (3, 3, 0)
    assert KEY not in "".join(path.read_text() for path in (tmp_path / "kept").iterdir())
