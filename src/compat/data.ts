import { jsonResponse } from "../base/http/answers.ts";
import { isFields } from "../base/pure/fields.ts";

/** The same answer with other data; an error stays as it is. */
export async function withData(
  answer: Response,
  change: (data: Record<string, unknown>) => unknown,
): Promise<Response> {
  if (answer.status !== 200) return answer;
  const envelope: unknown = await answer.json();
  const data = isFields(envelope) && isFields(envelope.data) ? await change(envelope.data) : undefined;
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== "content-length"));
  return jsonResponse(200, data === undefined ? envelope : { ...(envelope as object), data }, headers);
}
