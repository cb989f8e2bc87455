import { aptLine, command, lines, plainName, type Runtime, type SourceTree, versionIn } from "./runtime.ts";

/** Projects of .NET: in the folder, one below, and below src. */
function projects(tree: SourceTree): string[] {
  const inside = (folder: string) =>
    tree
      .list(folder.replace(/\/$/, ""))
      .filter((name) => /\.(?:cs|fs|vb)proj$/.test(name))
      .map((name) => folder + name);
  const below = (folder: string) =>
    tree
      .list(folder.replace(/\/$/, ""))
      .filter((name) => name.endsWith("/"))
      .flatMap((name) => inside(folder + name));
  return [...inside(""), ...below(""), ...below("src/")].filter((path) => plainName(path) !== undefined);
}

const isTest = (path: string) => /tests?\b/i.test(path.split("/").at(-1) ?? "");

/** The project that is built, in the folder of `path` where one is named: a web project, else another program. */
function chosenProject(tree: SourceTree, path: string | undefined) {
  const all = projects(tree).filter((project) => !isTest(project));
  const inPath =
    path === undefined
      ? all
      : all.filter((project) => project.startsWith(path.replace(/\/?$/, "/")) || project === path);
  const textOf = (project: string) => tree.read(project) ?? "";
  const web = inPath.filter((project) => textOf(project).includes("Microsoft.NET.Sdk.Web"));
  const programs = inPath.filter((project) => /<OutputType>\s*Exe|Microsoft\.NET\.Sdk\.Worker/i.test(textOf(project)));
  const [project, ...others] = web.length > 0 ? web : programs;
  return { project, others, isWeb: web.length > 0 };
}

/** What the project is written for, else the SDK that global.json names. */
function targetVersion(tree: SourceTree, text: string): string | undefined {
  const shared = ["Directory.Build.props", "src/Directory.Build.props"].map((file) => tree.read(file) ?? "").join("\n");
  const target = versionIn(`${text}\n${shared}`, /<TargetFrameworks?>\s*net(?:coreapp)?(\d+\.\d+)/);
  return target ?? versionIn(tree.read("global.json"), /"version"\s*:\s*"(\d+\.\d+)/);
}

export const dotnet: Runtime = {
  name: "dotnet",
  mark(tree) {
    const all = projects(tree);
    return all.find((project) => (tree.read(project) ?? "").includes("Microsoft.NET.Sdk.Web")) ?? all[0];
  },
  plan(tree, { version, path }) {
    const { project, others, isWeb } = chosenProject(tree, path);
    if (project === undefined)
      return {
        problem:
          "no project of .NET makes a program (Microsoft.NET.Sdk.Web, or OutputType Exe): name its folder in build.path",
      };
    const text = tree.read(project) ?? "";
    const makesPages = /<SpaRoot>|Command="npm /.test(text);
    const wanted = version ?? targetVersion(tree, text) ?? "8.0";
    const isClassic = /<TargetFrameworks?>\s*net4|<TargetFrameworkVersion>\s*v4/.test(text);
    if (version === undefined && isClassic)
      return { problem: `${project} is for .NET Framework, which runs on Windows alone: move it to .NET 8 or newer` };
    const isOld = Number(wanted) < 8 && version === undefined;
    const file = project.split("/").at(-1) ?? "";
    const assembly = plainName(/<AssemblyName>\s*([\w.-]+)\s*</.exec(text)?.[1]) ?? file.replace(/\.\w+proj$/, "");
    const runtime = isWeb ? "aspnet" : "runtime";
    return {
      ...(isWeb ? { port: 8080 } : {}),
      adapt: () => ({ instead: `${assembly}.dll of ${project}` }),
      notes: [
        ...(isOld ? [`.NET ${wanted}, which ${project} asks for, gets no fixes any more; move it to a newer one`] : []),
        ...(others.length === 0
          ? []
          : [
              `of the programs of .NET, ${project} is built, and not ${others.join(", ")}; to build another, set build.path to its folder`,
            ]),
      ],
      dockerfile: lines(
        `ARG BASE=mcr.microsoft.com/dotnet/sdk:${wanted}`,
        `ARG RUN_BASE=mcr.microsoft.com/dotnet/${runtime}:${wanted}`,
        "FROM ${BASE} AS build",
        "WORKDIR /src",
        "COPY . .",
        makesPages && aptLine("nodejs", "npm"),
        `RUN dotnet publish ${project} -c Release -o /out`,
        "FROM ${RUN_BASE}",
        "WORKDIR /app",
        "COPY --from=build /out .",
        isWeb && "ENV ASPNETCORE_URLS=http://+:8080 PORT=8080",
        "USER 65532",
        isWeb && "EXPOSE 8080",
        command("dotnet", `${assembly}.dll`),
      ),
    };
  },
};
