// What laws try is the same in every run, so that a run of the tests says the same twice. `LOCKSTEP_LAW_SEED=random` tries others.
import fc from 'fast-check'

const seed = process.env['LOCKSTEP_LAW_SEED'] ?? '1'
if (seed !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })
