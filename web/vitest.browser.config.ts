import { defineConfig } from "vitest/config";

// One browser for all of them: the machines that run this have few cores.
export default defineConfig({
  test: { include: ["browser/**/*.test.ts"], fileParallelism: false, testTimeout: 60000, hookTimeout: 60000 },
});
