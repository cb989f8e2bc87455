import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { testCertificate } from "./self-signed.ts";

/** A git server over https on loopback: git's own `http-backend` behind a listener. */
export interface GitServer {
  /** Of the repository, under `localhost`. */
  url: string;
  /** The certificate to trust, a file. */
  ca: string;
  /** Requests so far: method, path and the Authorization header. */
  asked: { path: string; authorization: string | null }[];
  /** Makes the files the whole content of the branch, in one commit; answers its id. */
  commit(branch: string, message: string, files: Record<string, string>): string;
  /** A command of git in the work tree. */
  git(...words: string[]): string;
  stop(): Promise<void>;
}

interface GitServerOptions {
  /** Requests need this token. */
  token?: string;
}

export function startGitServer({ token }: GitServerOptions = {}): GitServer {
  const folder = mkdtempSync(join(tmpdir(), "berth-git."));
  const [work, bare] = [join(folder, "work"), join(folder, "served/shop.git")];
  const run = (words: readonly string[], cwd: string): string => {
    const env = { PATH: process.env.PATH ?? "", HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
    const done = Bun.spawnSync(["git", "-c", "user.name=ana", "-c", "user.email=ana@example.com", ...words], {
      cwd,
      env,
    });
    if (done.exitCode !== 0) throw new Error(`git ${words.join(" ")}: ${done.stderr.toString()}`);
    return done.stdout.toString().trim();
  };
  mkdirSync(work, { recursive: true });
  run(["init", "--quiet", "--bare", "--initial-branch=main", bare], folder);
  run(["init", "--quiet", "--initial-branch=main", work], folder);
  const pem = testCertificate(["localhost"]);
  const ca = join(folder, "ca.pem");
  writeFileSync(ca, pem.slice(0, pem.indexOf("-----BEGIN PRIVATE KEY")));
  const asked: GitServer["asked"] = [];
  const expected = `Basic ${Buffer.from(`x-access-token:${token ?? ""}`).toString("base64")}`;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: pem, key: pem },
    async fetch(request) {
      const url = new URL(request.url);
      const authorization = request.headers.get("authorization");
      asked.push({ path: url.pathname, authorization });
      if (token !== undefined && authorization !== expected) {
        return new Response("who are you?", { status: 401, headers: { "WWW-Authenticate": "Basic" } });
      }
      return backend(request, url, join(folder, "served"));
    },
  });
  return {
    url: `https://localhost:${server.port}/shop.git`,
    ca,
    asked,
    commit(branch, message, files) {
      run(["checkout", "--quiet", "--orphan", `new-${Math.random().toString(36).slice(2)}`], work);
      run(["rm", "-rfq", "--ignore-unmatch", "."], work);
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(work, path)), { recursive: true });
        writeFileSync(join(work, path), text);
      }
      run(["add", "-Af"], work);
      run(["commit", "--quiet", "-m", message], work);
      run(["push", "--quiet", "--force", bare, `HEAD:${branch}`], work);
      return run(["rev-parse", "HEAD"], work);
    },
    git: (...words) => run(words, work),
    async stop() {
      await server.stop(true);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One request through git's CGI program. */
async function backend(request: Request, url: URL, root: string): Promise<Response> {
  const child = Bun.spawn(["git", "http-backend"], {
    env: {
      PATH: process.env.PATH ?? "",
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_PROTOCOL: request.headers.get("git-protocol") ?? "",
      HTTP_CONTENT_ENCODING: request.headers.get("content-encoding") ?? "",
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers.get("content-type") ?? "",
    },
    stdin: new Blob([await request.arrayBuffer()]),
    stdout: "pipe",
    stderr: "ignore",
  });
  const bytes = Buffer.from(await new Response(child.stdout).arrayBuffer());
  const end = bytes.indexOf("\r\n\r\n");
  const lines = bytes.subarray(0, end).toString().split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => [line.split(": ")[0] ?? "", line.split(": ")[1] ?? ""]),
  );
  const status = Number((headers.get("status") ?? "200").slice(0, 3));
  headers.delete("status");
  return new Response(bytes.subarray(end + 4), { status, headers });
}
