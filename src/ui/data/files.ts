import { readAnswer, targetOf } from "../../base/wire/client.ts";
import { readPodFile, writePodFile } from "../../observability/api/files.ts";
import { planePath } from "../../observability/api/plane-endpoint.ts";
import { uiHeader } from "../../observability/api/sessions.ts";

/** The address of a file; `length` for its beginning alone. */
export function fileHref(pod: string, path: string, length?: number): string {
  return targetOf(planePath(readPodFile), { params: { name: pod }, query: { path, length } });
}

/** Fails with `ApiError`. */
export async function uploadFile(pod: string, path: string, file: File): Promise<void> {
  const target = targetOf(planePath(writePodFile), { params: { name: pod }, query: { path } });
  const response = await fetch(target, {
    ...{ method: "PUT", credentials: "same-origin", body: file },
    headers: { [uiHeader]: "1", "Content-Type": "application/octet-stream" },
  });
  readAnswer(writePodFile, response.status, await response.text());
}

/** The beginning of a file, and how large the whole is. Fails with `ApiError`. */
export async function readStart(
  pod: string,
  path: string,
  { length, signal }: { length: number; signal: AbortSignal },
): Promise<{ bytes: Uint8Array; size: number }> {
  const response = await fetch(fileHref(pod, path, length), { signal, credentials: "same-origin" });
  if (!response.ok) readAnswer(readPodFile, response.status, await response.text());
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { bytes, size: Number(response.headers.get("X-File-Size") ?? bytes.length) };
}
