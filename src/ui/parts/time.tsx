import { isExact, now } from "../browser/clock.ts";
import { agoText, exactText } from "../text/times.ts";

/** How long ago, with the exact time in the viewer's zone as its tooltip; or that itself, as the viewer chose. */
export function Ago({ at }: { at: string | undefined }) {
  const time = at === undefined ? Number.NaN : Date.parse(at);
  if (at === undefined || Number.isNaN(time)) return <span class="faint">–</span>;
  return (
    <time dateTime={at} title={exactText(time)}>
      {isExact.value ? exactText(time) : agoText(time, now.value)}
    </time>
  );
}
