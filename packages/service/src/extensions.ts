import { originsExtension } from "@sotto/origins/service";
import { phoneExtension } from "@sotto/phone-registry";
import { prepaidExtension } from "@sotto/prepaid/service";
import type { ServiceExtension } from "@sotto/server";
import { tracesExtension } from "./traces/extension.ts";

/** What the program adds to the service. The order is that of the documentation. */
export const EXTENSIONS: readonly ServiceExtension[] = [
  prepaidExtension,
  originsExtension,
  phoneExtension,
  tracesExtension,
];
