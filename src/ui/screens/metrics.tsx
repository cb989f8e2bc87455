import { type Board as BoardView, listBoards } from "../../observability/api/boards.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { go, query, withQuery } from "../browser/router.ts";
import { Page } from "../frame/page.tsx";
import { Board, SpanChoice } from "../parts/board.tsx";
import { BoardButtons } from "../parts/board-dialogs.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty } from "../parts/notes.tsx";
import { Wall } from "../parts/wall.tsx";

/** Boards of charts, without anything to set up. A drag over a chart narrows the time of all. */
export function Screen() {
  const loaded = useLoad("boards", (signal) => api.call(listBoards, { signal }));
  if (query.value.get("tv") !== null) {
    return (
      <Shown of={loaded} label="the boards">
        {({ boards }) => <Wall boards={boards} />}
      </Shown>
    );
  }
  const name = query.value.get("board") ?? "";
  return (
    <Page title="Metrics" actions={<SpanChoice />} command={name === "" ? "berth top" : `berth boards show ${name}`}>
      <Shown of={loaded} label="the boards">
        {({ boards }) => <Boards boards={boards} name={name} again={loaded.again} />}
      </Shown>
    </Page>
  );
}

interface BoardsProps {
  boards: readonly BoardView[];
  /** Name of the chosen one; empty: those of the server. */
  name: string;
  again: () => void;
}

function Boards({ boards, name, again }: BoardsProps) {
  const shown = boards.filter((board) => (name === "" ? board.built_in : board.name === name));
  return (
    <>
      <div class="row">
        <select
          class="input"
          aria-label="Board"
          value={name}
          onChange={(event) => go(withQuery({ board: event.currentTarget.value }))}
        >
          <option value="">Apps and machine</option>
          {boards.map((board) => (
            <option key={board.name} value={board.name}>
              {board.title}
            </option>
          ))}
        </select>
        <BoardButtons boards={boards} chosen={name === "" ? undefined : shown[0]} again={again} />
        <a class="button bare" href={withQuery({ tv: "20s", boards: name, board: undefined })}>
          TV mode
        </a>
      </div>
      {shown.map((board) => (
        <Part key={board.name} board={board} />
      ))}
      {shown.length > 0 ? null : (
        <Empty title={`The board ${name} does not exist`}>
          <p>It was deleted, or your token may not see its apps.</p>
          <a href="/metrics">To all boards</a>
        </Empty>
      )}
    </>
  );
}

function Part({ board: { title, charts } }: { board: BoardView }) {
  return (
    <section class="section">
      <h2>{title}</h2>
      <Board charts={charts} />
    </section>
  );
}
