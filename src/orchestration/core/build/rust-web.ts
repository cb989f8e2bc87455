import { pagesBase, servedByNginx, servePages } from "./pages.ts";
import { aptLine, command, lines, plainName, type Plan, type SourceTree } from "./runtime.ts";

const compiler = ["ARG BASE=rust:1", "FROM ${BASE} AS build", "WORKDIR /src", "COPY . ."];
const wasm = "rustup target add wasm32-unknown-unknown";

/** A program of Rust whose pages run in the browser: cargo alone builds only a half of it. Undefined for any other. */
export function rustWebPlan(tree: SourceTree): Plan | undefined {
  const manifest = tree.read("Cargo.toml") ?? "";
  if (/^\[package\.metadata\.leptos\]/m.test(manifest)) return leptosPlan(manifest);
  if (/^\[\[workspace\.metadata\.leptos\]\]/m.test(manifest))
    return { problem: byHand("Cargo.toml", "cargo leptos build") };
  if (tree.has("Dioxus.toml") || /^[ \t]*dioxus[ \t]*=[^\n]{0,200}"(?:web|fullstack)"/m.test(manifest))
    return { problem: byHand(tree.has("Dioxus.toml") ? "Dioxus.toml" : "Cargo.toml", "dx bundle") };
  const isTrunk =
    tree.has("Trunk.toml") || /\bdata-trunk\b/.test(tree.read("index.html") ?? "") || isForBrowsers(tree, manifest);
  if (!isTrunk) return undefined;
  const made = /^[ \t]*dist[ \t]*=[ \t]*"(?:\.\/)?([\w./-]{1,60})"/m.exec(tree.read("Trunk.toml") ?? "")?.[1] ?? "dist";
  return {
    ...servedByNginx,
    notes: [
      `trunk builds the pages of the Rust program into ${made}, which nginx serves; to build otherwise, write a Dockerfile`,
    ],
    dockerfile: `${lines(pagesBase, ...compiler, `RUN ${wasm} && cargo install --locked trunk`, "RUN trunk build --release")}${servePages(`/src/${made}`, "one page")}`,
  };
}

function byHand(file: string, tool: string): string {
  return `${file} shows an app that "${tool}" builds, as a part of it runs in the browser; berth makes no image of it: write a Dockerfile that runs ${tool}`;
}

function isForBrowsers(tree: SourceTree, manifest: string): boolean {
  const isPages =
    /^[ \t]*(?:yew|sycamore|leptos)[ \t]*=[^\n]{0,200}"csr"/m.test(manifest) || /^[ \t]*yew[ \t]*=/m.test(manifest);
  return isPages && tree.has("index.html");
}

function leptosPlan(manifest: string): Plan {
  const own = /^\[package\][^[]*?^[ \t]*name[ \t]*=[ \t]*"([\w-]+)"/m.exec(manifest)?.[1];
  const settings = manifest.slice(manifest.indexOf("[package.metadata.leptos]"));
  const named = (key: string) =>
    new RegExp(String.raw`^[ \t]*${key}[ \t]*=[ \t]*"([\w./-]{1,60})"`, "m").exec(settings)?.[1];
  const name = plainName(named("bin-target") ?? own);
  if (name === undefined) return { problem: byHand("Cargo.toml", "cargo leptos build") };
  const root = plainName(named("site-root")) ?? "target/site";
  return {
    ...{ port: 8080, isTold: true, readsPort: false },
    notes: ["cargo leptos builds the program and its pages, and LEPTOS_SITE_ADDR says where it listens"],
    dockerfile: lines(
      ...["ARG RUN_BASE=debian:stable-slim", ...compiler],
      `RUN ${wasm} && cargo install --locked cargo-leptos`,
      "RUN cargo leptos build --release",
      "FROM ${RUN_BASE}",
      aptLine("ca-certificates", "openssl"),
      "WORKDIR /app",
      `COPY --from=build /src/target/release/${name} /usr/local/bin/app`,
      `COPY --from=build /src/${root} site`,
      `ENV LEPTOS_OUTPUT_NAME=${plainName(named("output-name")) ?? name} LEPTOS_SITE_ROOT=site LEPTOS_SITE_ADDR=0.0.0.0:8080 LEPTOS_ENV=PROD`,
      "USER 65532",
      "EXPOSE 8080",
      command("/usr/local/bin/app"),
    ),
  };
}
