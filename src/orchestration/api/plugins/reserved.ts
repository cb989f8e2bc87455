import { planeEndpoints } from "../../../observability/api/endpoints.ts";
import { planePrefix } from "../../../observability/api/plane-endpoint.ts";

/** Whether the observability plane serves this first segment of a path itself, so that no plugin can have it. */
export function isReservedPrefix(segment: string): boolean {
  return planeEndpoints.some(({ path }) => path.slice(planePrefix.length + 1).split("/", 1)[0] === segment);
}
