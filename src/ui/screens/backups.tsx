import type { BackupTarget } from "../../backups/api/backups.ts";
import { isTargetFailing } from "../../backups/api/protection.ts";
import { useCopies } from "../data/copies.ts";
import { apps, known } from "../data/model.ts";
import { may } from "../data/session.ts";
import { Page } from "../frame/page.tsx";
import { CopiesTable, CopyNow, Restores, Runs } from "../parts/copies.tsx";
import { Drills } from "../parts/drills.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty, Loading, Note } from "../parts/notes.tsx";
import { ProblemList } from "../parts/problem-list.tsx";
import { Rehearsals } from "../parts/rehearsals.tsx";
import { MissingButton, RestoreButton } from "../parts/restore.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { copyProblems, unprotected } from "../text/backups.ts";
import { bytesText, many } from "../text/figures.ts";

/** What is copied outside of this machine, what is not and why, and where the copies are. */
export function Screen() {
  const loaded = useCopies();
  const { data } = loaded;
  const hindrance = data?.targets.length === 0 ? "There is no target yet" : undefined;
  return (
    <Page
      title="Backups"
      actions={
        <>
          <MissingButton hindrance={hindrance} />
          <RestoreButton hindrance={hindrance} />
          <CopyNow hindrance={hindrance} />
        </>
      }
      command="berth backup target list"
    >
      {data === undefined ? null : <Wrong targets={data.targets} />}
      {known.value ? <CopiesTable list={apps.value} /> : <Loading label="the apps" />}
      <Drills list={apps.value} />
      {may("admin") ? <Rehearsals /> : null}
      <Shown of={loaded} label="the targets" scope="host:read">
        {({ targets, runs, restores }) => (
          <>
            <Targets list={targets} />
            <Restores list={restores} />
            <Runs list={runs} />
          </>
        )}
      </Shown>
    </Page>
  );
}

/** What is wrong, or how well it is. */
function Wrong({ targets }: { targets: readonly BackupTarget[] }) {
  const problems = copyProblems(apps.value, targets);
  if (targets.length > 0 && problems.length === 0) return <Well />;
  return (
    <>
      {targets.length > 0 ? null : (
        <Note tone="warn">
          {"Nothing is copied: there is no target. If this machine is lost, so is all of it. Type on the server: "}
          <code>berth backup target add disk /mnt/disk/copies</code>
        </Note>
      )}
      {problems.length === 0 ? null : (
        <section class="section">
          <h2>{problems.length === 1 ? "1 thing needs attention" : `${problems.length} things need attention`}</h2>
          <ProblemList list={problems} />
        </section>
      )}
    </>
  );
}

function Well() {
  const { names, withVolumes } = unprotected(apps.value);
  const isAll = names.length === 0;
  const text = `${withVolumes - names.length} of ${many(withVolumes, "app")} with volumes ${isAll ? "are" : "is"} protected`;
  return (
    <p>
      <State tone={isAll ? "good" : "warn"} text={withVolumes === 0 ? "The state of the server is copied" : text} />
    </p>
  );
}

function Targets({ list }: { list: readonly BackupTarget[] }) {
  return (
    <section class="section">
      <h2>Targets</h2>
      {list.length === 0 ? (
        <Empty title="No target yet">
          <p>A target is a folder on another disk, S3, SFTP or a REST server. Copies there are encrypted.</p>
          <code>berth backup target add offsite s3://s3.eu-central-1.amazonaws.com/my-bucket</code>
        </Empty>
      ) : (
        <Table
          label="Targets"
          rows={list.toSorted((a, b) => Number(isTargetFailing(b)) - Number(isTargetFailing(a)))}
          keyOf={({ name }) => name}
          columns={[
            { title: "State", cell: stateOf },
            { title: "Target", cell: placeOf },
            { title: "Last success", cell: ({ last_success_at: at }) => <Ago at={at} /> },
            { title: "Server state of", cell: ({ state_at: at }) => <Ago at={at} /> },
            { title: "Size", right: true, cell: ({ size_bytes: size }) => sizeText(size) },
            { title: "A day", right: true, cell: ({ growth_bytes: growth }) => sizeText(growth, "+") },
            { title: "Limit", right: true, cell: ({ max_size_bytes: max }) => sizeText(max) },
            { title: "Checked", cell: ({ checked_at: at }) => <Ago at={at} /> },
            { title: "Kept", cell: ({ keep }) => <span class="soft small one-line">{keep}</span> },
          ]}
        />
      )}
    </section>
  );
}

const faultsOf = ({ last_error: error, check_error: fault, volume_errors: errors = [] }: BackupTarget) =>
  [error, fault, ...errors].filter((one) => one !== undefined);

function stateOf(target: BackupTarget) {
  const { held, state_at: at } = target;
  if (isTargetFailing(target)) return <State tone="bad" text="failing" title={faultsOf(target).join("; ")} />;
  if (held !== undefined) return <State tone="warn" text="waits" title={held} />;
  return at === undefined ? <State tone="work" text="no copy yet" /> : <State tone="good" text="copied" />;
}

function placeOf({ name, url, append_only: isAppendOnly }: BackupTarget) {
  return (
    <>
      <strong>{name}</strong> <span class="soft small wraps">{isAppendOnly ? `${url}, append-only` : url}</span>
    </>
  );
}

function sizeText(bytes: number | undefined, sign = "") {
  return bytes === undefined ? <span class="faint">–</span> : `${bytes > 0 ? sign : ""}${bytesText(bytes)}`;
}
