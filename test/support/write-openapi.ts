import { mkdirSync } from "node:fs";
import { orchestrationDocument } from "../../src/orchestration/http/openapi.ts";
import { planeDocument } from "../../src/observability/http/openapi.ts";
import { createApiText } from "./api-text.ts";
import { identityWorld } from "./identity.ts";

/** The documents as the planes serve them, by file, without the version of a build. */
export async function openapiDocuments(): Promise<Record<string, unknown>> {
  const documents = {
    "orchestration.json": orchestrationDocument({ title: "berth orchestration API", version: "0" }),
    "identity.json": await identityDocument(),
    "observability.json": planeDocument({ title: "berth observability API", version: "0" }),
  };
  return JSON.parse(JSON.stringify(documents));
}

async function identityDocument(): Promise<unknown> {
  const world = identityWorld();
  try {
    return (await world.ask("GET /openapi.json")).json;
  } finally {
    world.close();
  }
}

/** What lies in git: each endpoint, parameter and field as a line, so that a review sees a change. */
export async function apiText(): Promise<string> {
  const text = createApiText();
  const planes = Object.entries(await openapiDocuments()).flatMap(([file, document]) => [
    `## ${file}`,
    ...text.endpoints(document),
  ]);
  return `${planes.join("\n")}\n`;
}

export const apiTextPath = `${import.meta.dir}/../golden/api.txt`;

if (import.meta.main) {
  const golden = process.argv.includes("--write");
  if (golden) await Bun.write(apiTextPath, await apiText());
  const folder = `${import.meta.dir}/../../dist/openapi`;
  mkdirSync(folder, { recursive: true });
  for (const [file, document] of Object.entries(await openapiDocuments())) {
    await Bun.write(`${folder}/${file}`, `${JSON.stringify(document, null, 2)}\n`);
  }
  console.log(
    `dist/openapi/ holds the documents${golden ? ", test/golden/api.txt their text" : "; --write also writes test/golden/api.txt"}`,
  );
}
