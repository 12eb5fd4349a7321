// `@sotto/origins/cli`: the commands for origins, as a set of @sotto/cli-kit.
export { originCommands } from "./cli/commands.ts";
