-- Serves programs from version 18 on.
-- A result was written to the index of its host three times, once for each state on its way into the
-- tree. Who asks for those that are still on their way looks through all of them.
DROP INDEX results_of_host;
CREATE INDEX results_of_host ON results (host, lease) WHERE state NOT IN ('pending', 'valid');
