import { ApiError, readAnswer, targetOf } from "../../base/wire/client.ts";
import { uiHeader } from "../../observability/api/sessions.ts";
import { planePath } from "../../observability/api/plane-endpoint.ts";
import { type Source, uploadSource as endpoint } from "../../orchestration/api/sources.ts";
import { tarEnd, tarHead, tarPadding } from "../text/tar.ts";

/** A tar archive of files. The browser reads each only while it is sent. */
export function tarOf(files: readonly { path: string; file: File }[]): Blob {
  const parts = files.flatMap(({ path, file }) => [tarHead(path, file.size), file, tarPadding(file.size)]);
  return new Blob([...parts, tarEnd()]);
}

interface Upload {
  query: { scope: string; name: string; folder: boolean };
  /** Told how much of it is sent, from 0 to 1. */
  onSent: (share: number) => void;
}

/** Sends an archive; `fetch` cannot tell how far an upload is. Fails with `ApiError`. */
export function uploadSource(archive: Blob, { query, onSent }: Upload): Promise<Source> {
  const { promise, resolve, reject } = Promise.withResolvers<Source>();
  const request = new XMLHttpRequest();
  request.open("POST", targetOf(planePath(endpoint), { query }));
  request.setRequestHeader("Content-Type", endpoint.bodyType ?? "");
  request.setRequestHeader(uiHeader, "1");
  request.upload.onprogress = ({ loaded, total }) => onSent(total === 0 ? 1 : loaded / total);
  request.onload = () => {
    try {
      resolve(readAnswer(endpoint, request.status, request.responseText));
    } catch (error) {
      reject(error);
    }
  };
  request.onerror = () => reject(new ApiError(0, "the connection ended during the upload: try again"));
  request.send(archive);
  return promise;
}
