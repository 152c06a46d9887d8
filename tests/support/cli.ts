import { createProgram } from '../../src/main/cli/program';

export interface Printed {
  code: number;
  output: string;
  errors: string;
}

/** Runs a command of the program in this process, with an environment of its own. */
export async function runCommand(
  args: string[],
  environment: Record<string, string>,
): Promise<Printed> {
  const { env } = process;
  const printed: Printed = { code: 0, output: '', errors: '' };
  const writes = [
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      printed.output += String(text);
      return true;
    }),
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
      printed.errors += String(text);
      return true;
    }),
  ];
  process.env = { ...env, ...environment };
  try {
    await createProgram().parseAsync(args, { from: 'user' });
    printed.code = Number(process.exitCode ?? 0);
  } catch (error) {
    printed.errors += (error as Error).message;
    printed.code = 1;
  } finally {
    process.env = env;
    process.exitCode = undefined;
    writes.forEach((write) => write.mockRestore());
  }
  return printed;
}
