import { ApiError } from "../../base/wire/client.ts";
import { getOverview } from "../../observability/api/apps.ts";
import { planePath } from "../../observability/api/plane-endpoint.ts";
import { openStream as stream } from "../../observability/api/stream.ts";
import { whoami } from "../../observability/api/whoami.ts";
import { api } from "./api.ts";
import { connection } from "./connection.ts";
import { hearers, takeOverview } from "./model.ts";
import { openStream } from "./stream.ts";

const againMs = 2_000;

/** Loads what the page holds, and listens to what changes. Once per page. */
export async function startLive(): Promise<void> {
  for (;;) {
    try {
      takeOverview(await api.call(getOverview));
      break;
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return;
      connection.value = "lost";
      await new Promise((done) => setTimeout(done, againMs));
    }
  }
  openStream(`${planePath(stream)}?topics=state,metrics,events`, hearers, isOver);
}

/** Whether the session has ended, rather than the server. What the stream cannot tell is asked for until it can. */
async function isOver(): Promise<boolean> {
  const answer = await api.raw(whoami).catch(() => undefined);
  if (answer?.status === 401) return true;
  if (answer?.ok) await api.call(getOverview).then(takeOverview, () => undefined);
  return false;
}
