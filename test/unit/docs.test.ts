import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Glob } from "bun";
import { describe, expect, test } from "bun:test";
import { defaultRules } from "../../src/observability/core/alerts/default-rules.ts";
import { actorHeader, idempotencyHeader, versionHeader } from "../../src/base/wire/client.ts";
import { apply } from "../../src/orchestration/api/apply.ts";
import { fileSizeHeader, onlyHeader } from "../../src/orchestration/api/dispatch.ts";
import { execFramingHeader, execIdHeader } from "../../src/orchestration/api/exec.ts";
import { AppSpec } from "../../src/orchestration/api/kinds/app.ts";
import { AssetSpec } from "../../src/orchestration/api/kinds/asset.ts";
import { EmbeddedFile, FetchedFile } from "../../src/orchestration/api/kinds/asset-file.ts";
import { containerFields } from "../../src/orchestration/api/kinds/container.ts";
import { CronjobSpec } from "../../src/orchestration/api/kinds/cronjob.ts";
import { DeploymentSpec, deploymentFields } from "../../src/orchestration/api/kinds/deployment.ts";
import { Webhook } from "../../src/orchestration/api/kinds/webhooks.ts";
import { IngressSpec } from "../../src/orchestration/api/kinds/ingress.ts";
import { JobSpec } from "../../src/orchestration/api/kinds/job.ts";
import { podFields } from "../../src/orchestration/api/kinds/pod.ts";
import { Probe } from "../../src/orchestration/api/kinds/probe.ts";
import { RegistrySpec } from "../../src/orchestration/api/kinds/registry.ts";
import { StatefulsetSpec } from "../../src/orchestration/api/kinds/statefulset.ts";
import { fieldTable } from "../support/field-tables.ts";

const checkout = join(import.meta.dir, "../..");
const manifests = join(checkout, "docs/manifests.md");
const files = [...new Glob("{src,plugins,test,setup}/**/*.{ts,tsx}").scanSync(checkout)];

/** Shown once, as sections of their own. */
const apart = ["probes", "on_deploy", "on_probe"];

/** The second half of docs/manifests.md, from the schemas that the server checks with. */
function reference(): string {
  const section = (title: string, text: string, table: string) => `### ${title}\n\n${text}\n\n${table}\n`;
  const container = fieldTable(Type.Object(containerFields));
  const pod = fieldTable(Type.Object(podFields), [...Object.keys(containerFields), ...apart]);
  const inContainer = "All fields of a container, and:";
  const inPod = "All fields of a container and of a pod, and:";
  return [
    "## Fields\n",
    section("Fields of a container", "Deployments, statefulsets, jobs and apps have these fields.", container),
    section("Fields of a pod", "Deployments, statefulsets and apps have these fields.", pod),
    section(
      "A probe",
      "Pods have `probes.startup`, `probes.liveness` and `probes.readiness`. Each has exactly one of `http_get`, `tcp_socket` and `exec`.",
      fieldTable(Probe),
    ),
    section(
      "A webhook",
      "Lists of webhooks: `on_deploy.success` and `on_deploy.failure` of deployments, `on_probe.failure` and `on_probe.recovery` of pods.",
      fieldTable(Webhook),
    ),
    section("deployment", inPod, fieldTable(DeploymentSpec, [...Object.keys(podFields), ...apart])),
    section("statefulset", inPod, fieldTable(StatefulsetSpec, Object.keys(podFields))),
    section("job", inContainer, fieldTable(JobSpec, Object.keys(containerFields))),
    section("cronjob", "`job` holds the spec of a job.", fieldTable(CronjobSpec, ["job"])),
    section("ingress", "One of `host` and `hosts` is required.", fieldTable(IngressSpec)),
    section(
      "app",
      "All fields of a deployment, and these fields of its ingress:",
      fieldTable(AppSpec, Object.keys(deploymentFields)),
    ),
    section("asset", "The value of a key is text, or one of the two forms below.", fieldTable(AssetSpec)),
    section("asset: content embedded by the client", "", fieldTable(EmbeddedFile)).replace("\n\n\n", "\n"),
    section("asset: content fetched by the server", "", fieldTable(FetchedFile)).replace("\n\n\n", "\n"),
    section("registry", "", fieldTable(RegistrySpec)).replace("\n\n\n", "\n"),
  ].join("\n");
}

const tidy = (text: string) =>
  text
    .split("\n")
    .map((line) => (line.startsWith("|") ? line.replace(/\s*\|\s*/g, "|").replace(/-+/g, "-") : line.trimEnd()))
    .filter((line) => line !== "")
    .join("\n");

describe("docs/manifests.md", () => {
  test("has the fields that the server checks; BERTH_WRITE_DOCS=1 bun test test/unit/docs.test.ts writes them", () => {
    const text = readFileSync(manifests, "utf8");
    const start = text.indexOf("## Fields\n");
    const prose = start === -1 ? text : text.slice(0, start);
    if (process.env.BERTH_WRITE_DOCS === "1") writeFileSync(manifests, prose + reference());
    const written = readFileSync(manifests, "utf8").slice(prose.length);
    expect(tidy(written)).toBe(tidy(reference()));
  });
});

describe("every page", () => {
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    ...new Glob("{docs,examples}/**/*.md").scanSync(checkout),
  ];

  test.each(pages)("%s links to files that exist", (page) => {
    const text = readFileSync(join(checkout, page), "utf8").replaceAll(/`[^`\n]*`/g, "");
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target]) => target ?? "");
    const missing = links.filter((target) => !existsSync(join(checkout, dirname(page), target)));
    expect(missing).toEqual([]);
  });

  test.each(pages)("%s names files and folders of the source that exist", (page) => {
    const text = readFileSync(join(checkout, page), "utf8");
    const paths = /`((?:src|test|setup|plugins|docs|examples)\/[\w./-]*\w(?:\/|\.\w+))`/g;
    const named = [...text.matchAll(paths)].map(([, path]) => path ?? "");
    expect(named.filter((path) => !existsSync(join(checkout, path)))).toEqual([]);
  });

  test.each(["docs/architecture.md", ...pages.filter((page) => page.startsWith("docs/decisions/"))])(
    "%s names files by the end of their path that exist",
    (page) => {
      const text = readFileSync(join(checkout, page), "utf8");
      const named = [...text.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.tsx?)`/g)].map(([, path]) => path ?? "");
      expect(named.filter((path) => !files.some((file) => file.endsWith(`/${path}`) || file === path))).toEqual([]);
    },
  );
});

describe("docs/stories.md", () => {
  const text = readFileSync(join(checkout, "docs/stories.md"), "utf8").replaceAll(/\s+/g, " ");
  const named = [...text.matchAll(/`(\w+)` in `((?:src|plugins)\/[^`]+)`/g)].map(([, name = "", path = ""]) => [
    name,
    path,
  ]);

  test("names functions that are where it says", () => {
    expect(named.length).toBeGreaterThan(80);
    const missing = named.filter(([name, path]) => {
      const file = join(checkout, path ?? "");
      return (
        !existsSync(file) ||
        !new RegExp(`\\bfunction\\*? ${name}\\b|\\bconst ${name}\\b`).test(readFileSync(file, "utf8"))
      );
    });
    expect(missing).toEqual([]);
  });
});

describe("docs/alerts.md", () => {
  test("has a row for each default rule, with its severity", () => {
    const rows = readFileSync(join(checkout, "docs/alerts.md"), "utf8").matchAll(
      /^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \| (\w+) \|/gm,
    );
    const written = [...rows].flatMap(([, names = "", severity]) =>
      [...names.matchAll(/`([a-z-]+)`/g)].map(([, name]) => `${name}: ${severity}`),
    );
    const expected = Object.entries(defaultRules).map(([name, { severity }]) => `${name}: ${severity}`);
    expect(written.sort()).toEqual(expected.sort());
  });
});

describe("field tables", () => {
  test("show type, default, need and nesting", () => {
    const schema = Type.Object({
      size: Type.Integer({ description: "how many", default: 3 }),
      mode: Type.Optional(Type.Union([Type.Literal("a"), Type.Literal("b")], { description: "x|y" })),
      items: Type.Optional(Type.Array(Type.Object({ name: Type.String() }))),
      hidden: Type.Optional(Type.String()),
    });
    expect(fieldTable(schema, ["hidden"]).split("\n").slice(2)).toEqual([
      "| `size` | integer | **required** | how many |",
      "| `mode` | `a` or `b` |  | x\\|y |",
      "| `items` | list of objects |  |  |",
      "| `items[].name` | text | **required** |  |",
    ]);
  });
});

describe("docs/http-api.md", () => {
  const page = readFileSync(join(checkout, "docs/http-api.md"), "utf8");

  test("has every query parameter of an apply that is berth's own", () => {
    const names = Object.keys(apply.query?.properties ?? {}).filter((name) => name !== "prune");
    expect(names.filter((name) => !page.includes(`\`${name}\``) && !page.includes(`${name}=`))).toEqual([]);
  });

  test("has every header that berth reads or sends of its own", () => {
    const headers = [
      actorHeader,
      idempotencyHeader,
      versionHeader,
      onlyHeader,
      fileSizeHeader,
      execIdHeader,
      execFramingHeader,
    ];
    expect(headers.filter((name) => !page.includes(`\`${name}`))).toEqual([]);
  });
});
