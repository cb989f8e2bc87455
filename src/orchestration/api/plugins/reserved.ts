import { planeEndpoints } from "../../../observability/api/endpoints.ts";

/** Whether the observability plane serves this first segment of a path itself, so that no plugin can have it. */
export function isReservedPrefix(segment: string): boolean {
  return planeEndpoints.some(({ path }) => path.split("/")[1] === segment);
}
