import { orchestrationEndpoints } from "../../src/api/orchestration/endpoints.ts";
import { openapiDocument } from "../../src/http/orchestration/openapi.ts";

export const snapshotPath = `${import.meta.dir}/../../docs/openapi/orchestration.json`;

/** The document as it is checked in: without the version of a build. */
export function snapshotText(): string {
  const info = { title: "berth orchestration API", version: "0" };
  return `${JSON.stringify(openapiDocument(info, orchestrationEndpoints), null, 2)}\n`;
}

if (import.meta.main) {
  if (!process.argv.includes("--write")) throw new Error("say --write to replace docs/openapi/orchestration.json");
  await Bun.write(snapshotPath, snapshotText());
}
