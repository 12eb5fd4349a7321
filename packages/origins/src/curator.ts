/** Entry `@sotto/origins/curator`: the program that judges deposits, and publishes the set that follows. It runs on Node. */
export {
  type CuratorConfig,
  curatorDeployment,
  type JudgeConfig,
  readCuratorConfig,
  withCuratorDefaults,
} from "./curator/config/config.ts";
export { CURATOR_SETTINGS, type CuratorSettings } from "./curator/config/settings.ts";
export { CURATOR_ERRORS } from "./curator/error-definitions.ts";
export { CuratorError, type CuratorErrorCode } from "./curator/errors.ts";
export { signJudgement } from "./curator/judges/webhook.ts";
export { type CuratorParts, type RunningCurator, startCurator } from "./curator/service.ts";
