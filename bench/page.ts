import type { Section } from './report.ts'

export const writePage = async (_sections: readonly Section[]): Promise<void> => {}
