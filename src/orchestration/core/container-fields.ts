import type { CoreKind, Spec } from "../api/manifest.ts";
import { fieldsOf } from "./lenient.ts";

/** The part of a spec that describes the container: the spec itself, or `job` inside a cronjob. */
export function containerFieldsOf(kind: CoreKind, spec: Spec): { fields: Spec; path: string } {
  return kind === "cronjob" ? { fields: fieldsOf(spec.job), path: "spec.job" } : { fields: spec, path: "spec" };
}

/** The spec with its container part replaced. */
export function withContainerFields(kind: CoreKind, spec: Spec, fields: Spec): Spec {
  return kind === "cronjob" ? { ...spec, job: fields } : fields;
}
