import { createContext, useContext } from "react";
import type { HostConfig } from "../config.ts";

export const ConfigContext = createContext<HostConfig | undefined>(undefined);

/** The host's configuration. Call it only in components below `App`, which renders pages once the configuration is loaded. */
export function useConfig(): HostConfig {
  const config = useContext(ConfigContext);
  if (config === undefined) throw new Error("useConfig is for components of pages");
  return config;
}
