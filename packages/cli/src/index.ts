export { SETS } from "./sets.ts";
