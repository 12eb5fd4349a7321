// node serving.ts FOLDER: starts the server of a copy and never ends it.
import { Lifetime } from "@sotto/command/lifetime";
import { npmRun, Programs } from "../../src/programs.ts";

const screen = { width: 80, colours: false, write: () => {} };
const programs = new Programs(screen, new Lifetime(), process.argv[2]!, {});
console.log(await programs.start(npmRun("serve"), /listens at (\S+)/, {}));
