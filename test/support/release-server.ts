import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeTree } from "./plugin-yard.ts";

/** One release of a repository. */
export interface FakeRelease {
  /** Of the package, without the folder that archives have around all. */
  files: Record<string, string>;
  /** Programs and checksum files by name. */
  assets?: Record<string, string>;
}

/** A host of releases on loopback: the same paths as the public one. */
export interface ReleaseServer {
  url: string;
  /** Paths that were asked for. */
  asked: string[];
  /** By `owner/repo`, then by tag; the last is the newest. */
  releases: Record<string, Record<string, FakeRelease>>;
  /** Answers instead, by path. */
  override: Map<string, () => Response | Promise<Response>>;
  stop(): Promise<void>;
}

export function releaseServer(releases: ReleaseServer["releases"] = {}): ReleaseServer {
  const self: ReleaseServer = {
    url: "",
    asked: [],
    releases,
    override: new Map(),
    stop: () => server.stop(true),
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    fetch(request: Request) {
      const { pathname } = new URL(request.url);
      self.asked.push(pathname);
      return self.override.get(pathname)?.() ?? answer(self, pathname);
    },
  });
  self.url = `http://127.0.0.1:${server.port}`;
  return self;
}

const missing = () => new Response("not found", { status: 404 });

function answer(self: ReleaseServer, path: string): Response {
  const [, repository = "", rest = ""] = /^\/([^/]+\/[^/]+)\/(.+)$/.exec(path) ?? [];
  const tags = self.releases[repository];
  if (tags === undefined) return missing();
  if (rest === "releases/latest") {
    const newest = Object.keys(tags).at(-1);
    const location = newest === undefined ? `${self.url}/${repository}/releases` : tagUrl(self.url, repository, newest);
    return new Response(null, { status: 302, headers: { Location: location } });
  }
  const [, archived = ""] = /^archive\/refs\/tags\/(.+)\.tar\.gz$/.exec(rest) ?? [];
  const release = tags[archived];
  if (release !== undefined) return new Response(tarball(release.files, repository.split("/")[1] ?? ""));
  const [, tag = "", name = ""] = /^releases\/download\/([^/]+)\/(.+)$/.exec(rest) ?? [];
  const asset = tags[tag]?.assets?.[name];
  return asset === undefined ? missing() : new Response(asset);
}

function tagUrl(url: string, repository: string, tag: string): string {
  return `${url}/${repository}/releases/tag/${tag}`;
}

/** As hosts make them: one folder around all, the commit as a comment. */
export function tarball(files: Record<string, string>, repo: string): Uint8Array<ArrayBuffer> {
  const folder = mkdtempSync(join(tmpdir(), "berth-tar-"));
  try {
    writeTree(join(folder, `${repo}-1`), files);
    const comment = "a".repeat(40);
    const flags = ["--format=pax", `--pax-option=globexthdr.name=pax_global_header,comment=${comment}`];
    run(["tar", "-czf", join(folder, "out.tgz"), ...flags, "-C", folder, `${repo}-1`]);
    return new Uint8Array(readFileSync(join(folder, "out.tgz")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A git repository with one commit and tag per entry, in order. */
export function gitRepository(folder: string, versions: Record<string, Record<string, string>>): string {
  const git = (...words: string[]) => run(["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@t", ...words]);
  run(["git", "init", "-q", "-b", "main", folder]);
  for (const [tag, files] of Object.entries(versions)) {
    writeTree(folder, files);
    git("add", "-A");
    git("commit", "-qm", tag);
    git("tag", tag);
  }
  return `file://${folder}`;
}

function run(argv: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(argv, { stdout: "ignore", stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${stderr.toString()}`);
}

export function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
