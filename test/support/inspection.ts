export interface InspectionFacts {
  name: string;
  tty?: boolean;
  state?: string;
  exitCode?: number;
  startedAt?: string;
}

/** The engine's answer to inspect, as far as it is read, for fake engines. */
export function inspection(facts: InspectionFacts): object {
  const { name, tty = false, state = "running", exitCode = 0, startedAt = "2026-01-01T00:00:00Z" } = facts;
  return {
    Id: name.repeat(64),
    Name: `/${name}`,
    Image: "sha256:1",
    Created: "2026-01-01T00:00:00Z",
    RestartCount: 0,
    State: {
      Status: state,
      ExitCode: exitCode,
      OOMKilled: false,
      Error: "",
      // Beyond the largest pid that Linux gives: of no process here.
      Pid: state === "running" ? 2 ** 22 + 1 : 0,
      StartedAt: startedAt,
      FinishedAt: "0001-01-01T00:00:00Z",
    },
    Config: { Image: "app:1", Labels: {}, Cmd: [], Env: [], WorkingDir: "", Tty: tty },
    HostConfig: { RestartPolicy: { Name: "no" } },
    NetworkSettings: { Networks: {}, Ports: {} },
    Mounts: [],
  };
}
