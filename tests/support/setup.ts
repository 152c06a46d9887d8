import fc from 'fast-check';

// Every run has the same cases, so that only a change of the code turns it red. New cases:
// FUZZ_SEED=$RANDOM FUZZ_TIMES=10 npx jest fuzz
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 20_261_121) });
