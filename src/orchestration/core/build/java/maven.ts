import { plainName, type SourceTree } from "../runtime.ts";
import { copyJar, fromJar, type JavaBuild, jre } from "./parts.ts";

const looksMax = 300;
const usual = /(?:^|\/)(?:\w*Application|App|Main|Server|\w*Main|\w*Server|\w*App)\.(?:java|kt)$/;

/** The class with the program of a module, as its build file names it or as its source shows. */
function mainClass(tree: SourceTree, buildText: string, folder = ""): string | undefined {
  const named =
    /<(?:mainClass|exec\.mainClass|start-class)>\s*([\w.$]+)\s*</.exec(buildText)?.[1] ??
    /\bmainClass(?:Name)?(?:\.set\(|\s*=)\s*["']([\w.$]+)["']/.exec(buildText)?.[1];
  if (named !== undefined) return named;
  for (const language of ["java", "kotlin"]) {
    const root = `${folder}src/main/${language}`;
    const files = sourceFiles(tree, root);
    const found = [...files.filter((file) => usual.test(file)), ...files].find((file) =>
      hasMain(tree.read(file) ?? ""),
    );
    if (found === undefined) continue;
    const name = found.slice(root.length + 1).replaceAll("/", ".");
    return name.endsWith(".kt") ? name.replace(/\.kt$/, "Kt") : name.replace(/\.java$/, "");
  }
  return undefined;
}

function hasMain(text: string): boolean {
  return /\bpublic\s+static\s+void\s+main\s*\(|^fun main\(/m.test(text);
}

function sourceFiles(tree: SourceTree, root: string): string[] {
  const found: string[] = [];
  const queue = [root];
  for (let looks = 0; queue.length > 0 && looks < looksMax; looks++) {
    const folder = queue.shift() ?? "";
    for (const name of tree.list(folder)) {
      if (name.endsWith("/")) queue.push(`${folder}/${name.slice(0, -1)}`);
      else if (/\.(?:java|kt)$/.test(name)) found.push(`${folder}/${name}`);
    }
  }
  return found;
}

/** Plugins that put all that a program needs into one archive. */
const packs =
  /<artifactId>(?:spring-boot-maven-plugin|maven-shade-plugin|maven-assembly-plugin|micronaut-maven-plugin)</;

/** Modules of a pom.xml, each with a slash at its end. */
function modulesOf(pom: string): string[] {
  const names = [...pom.matchAll(/<module>\s*([\w./-]+)\s*<\/module>/g)].map(([, name]) => plainName(name));
  return names.flatMap((name) => (name === undefined ? [] : [`${name}/`]));
}

/** The module whose program starts: the one of `path`, else the first that packs a program; `own` is the pom.xml of the tree. */
function chosenModule(tree: SourceTree, own: string, path: string | undefined) {
  const all = [["", own], ...modulesOf(own).map((module) => [module, tree.read(`${module}pom.xml`) ?? ""])] as const;
  const named = path === undefined ? undefined : `${path.replace(/\/$/, "")}/`;
  const runnable = all.filter(([module, pom]) => packs.test(pom) && !(module === "" && all.length > 1));
  const [folder, pom] = all.find(([module]) => module === named) ?? runnable[0] ?? ["", own];
  const others = named === undefined ? runnable.slice(1).map(([module]) => module.slice(0, -1)) : [];
  const notes =
    others.length === 0
      ? []
      : [
          `of the modules, ${folder.slice(0, -1)} is started, and not ${others.join(", ")}; to start another, set build.path`,
        ];
  return { folder, pom, notes };
}

export function maven(tree: SourceTree, version: string, path: string | undefined): JavaBuild {
  const own = tree.read("pom.xml") ?? "";
  const { folder, pom, notes } = chosenModule(tree, own, path);
  const tool = isWrapped(tree) ? "sh ./mvnw" : "mvn";
  const only = folder === "" ? "" : ` -pl ${folder.slice(0, -1)} -am`;
  const package_ = `${tool} -q -B -DskipTests${only} package`;
  const base = `maven:3-eclipse-temurin-${version}`;
  if (/<artifactId>quarkus-maven-plugin</.test(pom) && !/uber-jar/.test(pom))
    return {
      ...{ base, run: jre(version), notes, start: ["java", "-XX:MaxRAMPercentage=75", "-jar", "/app/quarkus-run.jar"] },
      build: `${package_} && mkdir /out && cp -r ${folder}target/quarkus-app/. /out/`,
    };
  const needsRepackage =
    /spring-boot-maven-plugin</.test(pom) && !/spring-boot-starter-parent<|<goal>\s*repackage\s*</.test(own + pom);
  if (needsRepackage) {
    const packed =
      folder === ""
        ? `${package_} spring-boot:repackage`
        : `${tool} -q -B -DskipTests${only} install && ${tool} -q -B -DskipTests -pl ${folder.slice(0, -1)} package spring-boot:repackage`;
    return { ...fromJar(version), base, notes, build: `${packed} && mkdir /out && ${copyJar(folder, "target")}` };
  }
  if (packs.test(pom))
    return { ...fromJar(version), base, notes, build: `${package_} && mkdir /out && ${copyJar(folder, "target")}` };
  if (/<packaging>\s*war\s*</.test(pom)) return war({ base, pom, version, build: package_, folder, notes });
  const main = mainClass(tree, pom, folder);
  if (main === undefined && /<parent>/.test(pom)) {
    const unsure =
      "the parent of pom.xml is taken to pack the program into one jar; if it does not, write a Dockerfile";
    return {
      ...fromJar(version),
      base,
      notes: [...notes, unsure],
      build: `${package_} && mkdir /out && ${copyJar(folder, "target")}`,
    };
  }
  const noStart =
    "pom.xml does not pack a program (no plugin of Spring Boot, Quarkus or shade), and no class with a main method was found: name it as mainClass, or write a Dockerfile";
  const copies = `${tool} -q -B${only} dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=/out/lib`;
  return {
    ...{ base, run: jre(version), notes, noStart: main === undefined ? noStart : undefined },
    build: `${package_} && ${copies} && cp -r ${folder}target/classes /out/classes`,
    start: ["java", "-XX:MaxRAMPercentage=75", "-cp", "/app/classes:/app/lib/*", main ?? ""],
  };
}

function isWrapped(tree: SourceTree): boolean {
  return tree.has("mvnw") && tree.has(".mvn/wrapper/maven-wrapper.properties");
}

interface War {
  base: string;
  pom: string;
  version: string;
  build: string;
  folder: string;
  notes: string[];
}

/** An archive for a servlet container; programs of before Jakarta need an older one. */
function war({ base, pom, version, build, folder, notes }: War): JavaBuild {
  const isOld = /<groupId>javax\.servlet|<artifactId>javaee-/.test(pom);
  return {
    ...{ base, run: `tomcat:${isOld ? "9" : "10"}-jre${version}`, start: ["catalina.sh", "run"] },
    notes: [...notes, "the build makes a WAR, which Tomcat serves"],
    build: `${build} && mkdir /out && cp ${folder}target/*.war /out/ROOT.war`,
    place: "/usr/local/tomcat/webapps",
  };
}
