import type { ComponentChildren } from "preact";
import type { Loaded } from "../data/load.ts";
import { now } from "../browser/clock.ts";
import { agoText } from "../text/times.ts";
import { Button } from "./button.tsx";
import { Denied, Empty, Loading, Note } from "./notes.tsx";

interface LoadedProps<T> {
  of: Loaded<T>;
  /** What it is, for texts: `the releases`. */
  label: string;
  /** The scope that the answer needs. */
  scope?: string;
  children: (data: T) => ComponentChildren;
}

/** Every state of something that is asked for: loading, there, there but old, failed, not permitted. */
export function Shown<T>({ of, label, scope = "read", children }: LoadedProps<T>) {
  if (of.denied) return <Denied scope={scope} />;
  if (of.data !== undefined) {
    return (
      <>
        {of.fault === undefined ? null : (
          <Note tone="warn">
            {`${of.fault} Shown: ${label}, as of ${agoText(of.at ?? 0, now.value)}. `}
            <Button look="bare" onClick={of.again}>
              Try again
            </Button>
          </Note>
        )}
        {children(of.data)}
      </>
    );
  }
  if (of.fault === undefined) return <Loading label={label} />;
  return (
    <Empty title={`Could not load ${label}`}>
      <p>{of.fault}</p>
      <Button onClick={of.again}>Try again</Button>
    </Empty>
  );
}
