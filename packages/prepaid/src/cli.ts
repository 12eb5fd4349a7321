// `@sotto/prepaid/cli`: the commands for prepaid tokens, as a set of @sotto/cli-kit.
export { prepaidCommands } from "./cli/commands.ts";
