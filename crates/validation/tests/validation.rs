//! Every validation case in its small version.

use validation::{CASES, Effort};

fn passes(name: &str) {
    let case = validation::cases::find(name).expect("a known case");
    let checks = (case.run)(Effort::Small);
    let failures = checks.failures();
    assert!(failures.is_empty(), "{failures:#?}");
}

macro_rules! cases {
    ($($test:ident $name:literal),* $(,)?) => {
        $(#[test] fn $test() { passes($name); })*

        #[test]
        fn every_case_is_tested() {
            let tested = [$($name),*];
            assert!(CASES.iter().all(|c| tested.contains(&c.name)));
        }
    };
}

cases! {
    a_particle_falls_slides_and_stops_at_first_order "ccp-particle",
    a_sliding_block_lifts_under_cone_complementarity_only "ccp-slope",
    two_balls_on_ropes_meet_and_stop "ccp-two-balls",
    two_chains_collide_as_the_reference_says "ccp-pendulums",
    dantzigs_algorithm_solves_what_can_be_solved "dantzig",
    impacts_of_a_bouncing_ball_accumulate_when_they_should "bouncing-ball",
    a_block_sticks_and_slides_as_coulomb_says "slope",
    what_adheres_parts_at_its_pull_off_force "cohesion",
    a_sliding_ball_rolls_at_five_sevenths "rolling",
    a_wedge_on_two_points_swings_undamped "hanging",
    three_balls_part_as_newton_says "three-balls",
    collisions_keep_momentum "momentum",
    a_free_body_tumbles_as_its_angular_momentum_says "tumbling",
    each_correction_does_what_the_book_says "corrections",
    corrected_overlaps_stay_small_and_what_stands_keeps_standing "position-correction",
    contact_forces_at_rest_are_unique_and_elastic "rest-forces",
    a_tower_stands "tower",
    a_wall_stands "wall",
    an_arch_stands_or_falls_by_its_thickness "arch",
    poured_stones_come_to_rest "stones-at-rest",
    curved_shapes_roll_collide_and_stand "capsules",
    runs_repeat_bit_by_bit "same-bits",
    trees_agree_with_pinocchio "pinocchio",
    a_pendulum_swings_as_elliptic_functions_say "pendulum",
    four_bars_pass_their_singular_position "four-bar",
    the_squeezer_ends_where_the_test_set_says "andrews",
    an_overconstrained_loop_moves "bricard",
    a_governor_with_stiff_springs_settles "flyball",
    the_tamping_unit_moves_in_air_as_elsewhere "tamping-air",
    the_slider_keeps_its_clearance "slider-crank",
    mechanisms_and_grains_push_back "coupling",
    a_ball_bounces_without_penetration "ggl-bouncing-ball",
    a_pendulum_keeps_its_pivot_and_its_obstacle "ggl-pendulum",
    an_elastic_bar_bounces_with_its_energy "ggl-elastic-bar",
    beams_bend_and_vibrate_as_theory_says "flexible",
    a_block_rocks_without_penetration "ggl-rocking-block",
    the_slider_stays_within_its_clearance "ggl-slider-crank",
    all_solvers_of_cone_problems_find_the_same_minimum "ccp-solvers",
    soft_contacts_collide_as_theory_says_and_pile_like_hard_ones "penalty",
    events_end_steps_where_closed_forms_say_and_grains_come_to_rest "rigid-events",
    ropes_hang_swing_slacken_and_break_as_they_should "ropes",
    the_tamping_unit_rests_and_vibrates_as_linearized_elsewhere "tamping-modes",
    stones_break_at_their_strength_and_keep_their_mass "crushing",
    stones_wear_as_archard_says_and_become_round "wear",
    servos_push_with_their_target_below_their_speed "servo",
    packings_have_the_stress_of_their_weight_and_the_fabric_of_their_crystal "measures",
    gases_in_periodic_cells_keep_momentum_and_energy_and_shear_evenly "periodic",
}
