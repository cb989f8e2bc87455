import { now } from "../browser/clock.ts";
import { agoText, exactText } from "../text/times.ts";

/** How long ago; the exact time in the viewer's zone is its tooltip. */
export function Ago({ at }: { at: string | undefined }) {
  const time = at === undefined ? Number.NaN : Date.parse(at);
  if (at === undefined || Number.isNaN(time)) return <span class="faint">–</span>;
  return (
    <time dateTime={at} title={exactText(time)}>
      {agoText(time, now.value)}
    </time>
  );
}
