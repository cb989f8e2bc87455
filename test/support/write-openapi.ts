import { orchestrationDocument } from "../../src/orchestration/http/openapi.ts";
import { planeDocument } from "../../src/observability/http/openapi.ts";
import { identityWorld } from "./identity.ts";

/** The documents as they are checked in, by file: without the version of a build. */
export async function openapiSnapshots(): Promise<Record<string, unknown>> {
  return {
    "orchestration.json": orchestrationDocument({ title: "berth orchestration API", version: "0" }),
    "identity.json": await identityDocument(),
    "observability.json": planeDocument({ title: "berth observability API", version: "0" }),
  };
}

async function identityDocument(): Promise<unknown> {
  const world = identityWorld();
  try {
    return (await world.ask("GET /openapi.json")).json;
  } finally {
    world.close();
  }
}

export const snapshotPath = (file: string): string => `${import.meta.dir}/../../docs/openapi/${file}`;

if (import.meta.main) {
  if (!process.argv.includes("--write")) throw new Error("say --write to replace docs/openapi/");
  for (const [file, document] of Object.entries(await openapiSnapshots())) {
    await Bun.write(snapshotPath(file), `${JSON.stringify(document, null, 2)}\n`);
  }
}
