import { useEffect } from "preact/hooks";
import type { Board as BoardView } from "../../observability/api/boards.ts";
import { connection, heardText, staleText } from "../data/connection.ts";
import { now } from "../browser/clock.ts";
import { go, query, withQuery } from "../browser/router.ts";
import { onWall } from "../text/boards.ts";
import { exactText } from "../text/times.ts";
import { Board } from "./board.tsx";
import { Button } from "./button.tsx";
import { Empty } from "./notes.tsx";
import { State } from "./state.tsx";

const turns = ["10s", "20s", "1m", "5m"];

/** Boards on a screen that hangs on a wall, one after the other. The address holds which, how long and of what time. */
export function Wall({ boards }: { boards: readonly BoardView[] }) {
  const every = query.value.get("tv") ?? "";
  const { shown, at, board } = onWall(boards, { names: query.value.get("boards") ?? "", every, now: now.value });
  const leave = () => {
    if (document.fullscreenElement !== null) void document.exitFullscreen();
    go(withQuery({ tv: undefined, boards: undefined }));
  };
  useEffect(() => {
    document.title = `${board?.title ?? "Boards"} · berth`;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") leave();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [board?.title]);
  return (
    <main class="page wall" id="main" tabIndex={-1}>
      <header class="head">
        <div class="title">
          <h1>{board?.title ?? "Boards"}</h1>
          {shown.length < 2 ? null : <span class="soft">{`${at + 1} of ${shown.length}`}</span>}
        </div>
        <div class="row">
          <Age />
          <select
            class="input"
            aria-label="Time of each board"
            value={every}
            onChange={(event) => go(withQuery({ tv: event.currentTarget.value }), { replace: true })}
          >
            {(turns.includes(every) ? turns : [...turns, every]).map((one) => (
              <option key={one} value={one}>{`each ${one}`}</option>
            ))}
          </select>
          <Button onClick={() => void document.documentElement.requestFullscreen?.()}>Full screen</Button>
          <Button look="bare" onClick={leave}>
            Leave
          </Button>
        </div>
      </header>
      {board === undefined ? (
        <Empty title="None of these boards exists" />
      ) : (
        <Board key={board.name} charts={board.charts} tall />
      )}
    </main>
  );
}

/** A wall has no keyboard in front of it: it must be visible whether what it shows is old. */
function Age() {
  if (staleText.value === undefined && connection.value === "live")
    return <State tone="good" text={exactText(now.value).slice(11, 16)} />;
  return <State tone="warn" text={["Reconnecting", heardText.value].filter(Boolean).join(", ")} />;
}
